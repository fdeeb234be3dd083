// Writing and reading platform.json.
#include "traces/model/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace gt::model {
namespace {

using Json = nlohmann::ordered_json;
constexpr const char* Format = "gtrace-platform";
constexpr size_t MaxFileBytes = 16 << 20;
constexpr double MaxDurationNs = 1e12;  // no message takes longer

Json curve_json(const Curve& c) {
  Json out = Json::array();
  for (const Knot& k : c.knots()) out.push_back({k.size, k.ns});
  return out;
}

Json costs_json(const PolicyCosts& c) {
  return {{"allocation", curve_json(c.allocation)},
          {"h2d", curve_json(c.h2d)},
          {"d2h", curve_json(c.d2h)},
          {"max_bytes", c.max_bytes},
          {"noise", c.noise}};
}

Json device_json(const DeviceCosts& d) {
  Json policies = Json::object();
  for (size_t i = 0; i < PolicyCount; ++i)
    if (d.policies[i]) policies[std::string(PolicyNames[i])] = costs_json(*d.policies[i]);
  return {{"platform", d.platform}, {"name", d.name}, {"driver", d.driver}, {"policies", policies}};
}

Json link_json(const LinkCosts& l) {
  return {{"name", l.name},
          {"latency_ns", l.latency_ns},
          {"command_ns", l.command_ns},
          {"put", curve_json(l.put)},
          {"get", curve_json(l.get)}};
}

// Walks a document, remembers the first error with its place; after it every read gives a default.
class Reader {
 public:
  bool ok() const { return x_status.ok(); }
  const Status& status() const { return x_status; }

  void fail(const std::string& where, const std::string& what) {
    if (ok()) x_status = Status(Kind::Corrupt, (where.empty() ? "top level" : where) + ": " + what);
  }

  // The object at `where`, holding exactly `keys`, and perhaps `optional`.
  bool object(const Json& j, const std::string& where, std::initializer_list<const char*> keys,
              const char* optional = "") {
    if (!j.is_object()) return fail(where, "an object is expected"), false;
    for (const char* key : keys)
      if (!j.contains(key)) return fail(where, std::string("\"") + key + "\" is missing"), false;
    for (const auto& entry : j.items()) {
      const std::string& key = entry.key();
      const bool known = key == optional || std::any_of(keys.begin(), keys.end(),
                                                        [&](const char* k) { return key == k; });
      if (!known) return fail(where, "unknown key \"" + key.substr(0, 40) + "\""), false;
    }
    return ok();
  }

  std::string text(const Json& j, const std::string& where) {
    if (j.is_string()) return j.get<std::string>();
    return fail(where, "a text is expected"), std::string();
  }
  uint64_t natural(const Json& j, const std::string& where) {
    if (j.is_number_unsigned()) return j.get<uint64_t>();
    return fail(where, "a natural number is expected"), uint64_t{0};
  }
  double number(const Json& j, const std::string& where) {
    if (j.is_number()) return j.get<double>();
    return fail(where, "a number is expected"), 0.0;
  }
  bool boolean(const Json& j, const std::string& where) {
    if (j.is_boolean()) return j.get<bool>();
    return fail(where, "true or false is expected"), false;
  }

  Curve curve(const Json& j, const std::string& where) {
    if (!j.is_array() || j.empty()) return fail(where, "a list of [size, ns] is expected"), Curve();
    std::vector<Knot> knots;
    for (const Json& k : j) {
      const bool pair = k.is_array() && k.size() == 2 && k[0].is_number() && k[1].is_number();
      if (!pair) return fail(where, "each knot must be [size, ns]"), Curve();
      knots.push_back({k[0].get<double>(), k[1].get<double>()});
    }
    Result<Curve> made = Curve::make(std::move(knots));
    if (!made) return fail(where, made.status().text()), Curve();
    return std::move(*made);
  }

  PolicyCosts costs(const Json& j, const std::string& where) {
    PolicyCosts c;
    if (!object(j, where, {"allocation", "h2d", "d2h", "max_bytes", "noise"})) return c;
    c.allocation = curve(j["allocation"], where + ".allocation");
    c.h2d = curve(j["h2d"], where + ".h2d");
    c.d2h = curve(j["d2h"], where + ".d2h");
    c.max_bytes = natural(j["max_bytes"], where + ".max_bytes");
    c.noise = number(j["noise"], where + ".noise");
    if (!(c.noise >= 0 && c.noise <= 100)) fail(where + ".noise", "out of range");
    return c;
  }

  DeviceCosts device(const Json& j, const std::string& where) {
    DeviceCosts d;
    if (!object(j, where, {"platform", "name", "driver", "policies"})) return d;
    d.platform = text(j["platform"], where + ".platform");
    d.name = text(j["name"], where + ".name");
    d.driver = text(j["driver"], where + ".driver");
    if (!j["policies"].is_object()) return fail(where + ".policies", "an object is expected"), d;
    for (const auto& [key, value] : j["policies"].items()) {
      const auto policy = parse_policy(key);
      if (!policy)
        return fail(where + ".policies", "unknown policy \"" + key.substr(0, 40) + "\""), d;
      d.policies[static_cast<size_t>(*policy)] = costs(value, where + ".policies." + key);
    }
    if (!d.costs(Policy::Standard)) fail(where + ".policies", "\"standard\" is missing");
    return d;
  }

  double duration(const Json& j, const std::string& where) {
    const double ns = number(j, where);
    if (!(ns >= 0 && ns <= MaxDurationNs)) fail(where, "out of range");
    return ns;
  }

  LinkCosts link(const Json& j, const std::string& where) {
    LinkCosts l;
    if (!object(j, where, {"name", "latency_ns", "command_ns", "put", "get"})) return l;
    l.name = text(j["name"], where + ".name");
    if (l.name.empty()) fail(where + ".name", "is empty");
    l.latency_ns = duration(j["latency_ns"], where + ".latency_ns");
    l.command_ns = duration(j["command_ns"], where + ".command_ns");
    l.put = curve(j["put"], where + ".put");
    l.get = curve(j["get"], where + ".get");
    return l;
  }
  void links(const Json& j, std::vector<LinkCosts>& out) {
    if (!j.is_array()) return fail("links", "a list is expected");
    for (const Json& l : j) out.push_back(link(l, "links[" + std::to_string(out.size()) + "]"));
  }

  Platform platform(const Json& j) {
    Platform p;
    if (!j.is_object() || !j.contains("format") || j["format"] != Format)
      return fail("", "not a gtrace platform file"), p;
    if (j.contains("version") && j["version"] != PlatformVersion)
      return fail("version", "this program reads version " + std::to_string(PlatformVersion)), p;
    if (!object(j, "", {"format", "version", "machine", "quick", "devices"}, "links")) return p;
    const Json& m = j["machine"];
    if (!object(m, "machine", {"cpu", "cpus", "memory_bytes", "drivers"})) return p;
    p.machine.cpu = text(m["cpu"], "machine.cpu");
    p.machine.cpus = static_cast<uint32_t>(natural(m["cpus"], "machine.cpus"));
    p.machine.memory_bytes = natural(m["memory_bytes"], "machine.memory_bytes");
    p.machine.drivers = text(m["drivers"], "machine.drivers");
    p.quick = boolean(j["quick"], "quick");
    if (!j["devices"].is_array()) return fail("devices", "a list is expected"), p;
    for (const Json& d : j["devices"])
      p.devices.push_back(device(d, "devices[" + std::to_string(p.devices.size()) + "]"));
    if (j.contains("links")) links(j["links"], p.links);
    return p;
  }

 private:
  Status x_status;
};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

std::string format_platform(const Platform& platform) {
  Json devices = Json::array();
  for (const DeviceCosts& d : platform.devices) devices.push_back(device_json(d));
  const Machine& m = platform.machine;
  Json j = {{"format", Format},
                  {"version", platform.version},
                  {"machine",
                   {{"cpu", m.cpu},
                    {"cpus", m.cpus},
                    {"memory_bytes", m.memory_bytes},
                    {"drivers", m.drivers}}},
                  {"quick", platform.quick},
                  {"devices", devices}};
  for (const LinkCosts& l : platform.links) j["links"].push_back(link_json(l));
  return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Platform> parse_platform(std::string_view text, std::string_view name) {
  const std::string place(name);
  if (text.size() > MaxFileBytes)
    return Status(Kind::Corrupt, place + ": too large for a platform file");
  Json j;
  try {
    j = Json::parse(text);
  } catch (const Json::parse_error& e) {
    return Status(Kind::Corrupt, place + ": not JSON (byte " + std::to_string(e.byte) + ")");
  } catch (const Json::exception&) {  // a number that no machine can hold is no parse error to the library
    return Status(Kind::Corrupt, place + ": holds a number that is too large");
  }
  Reader reader;
  Platform platform = reader.platform(j);
  if (!reader.ok()) return reader.status().at(place);
  return platform;
}

Result<Platform> read_platform(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return system_error("cannot read " + path, errno);
  std::string text;
  for (char part[1 << 14]; text.size() <= MaxFileBytes && in;
       text.append(part, static_cast<size_t>(in.gcount())))
    in.read(part, sizeof part);
  return parse_platform(text, path);
}

Status write_platform(const Platform& platform, const std::string& path) {
  const std::filesystem::path target(path);
  std::error_code error;
  if (target.has_parent_path()) std::filesystem::create_directories(target.parent_path(), error);
  const std::string part = path + ".part" + std::to_string(::getpid());
  std::ofstream out(part, std::ios::binary | std::ios::trunc);
  if (!out) return system_error("cannot write " + path, errno);
  out << format_platform(platform);
  out.close();
  if (!out || std::rename(part.c_str(), path.c_str()) != 0) {
    const int err = errno;
    std::remove(part.c_str());
    return system_error("cannot write " + path, err);
  }
  return {};
}

Status matches_here(const Platform& platform, const Machine& here) {
  const auto refuse = [](const char* what) {
    return Status(Kind::Unsupported, std::string("measured with another ") + what +
                                         ": run gmicrobench platform again");
  };
  const Machine& m = platform.machine;
  if (m.cpu != here.cpu || m.cpus != here.cpus) return refuse("processor");
  // The kernel's own share varies a little from boot to boot.
  const auto memory_differs = [](uint64_t a, uint64_t b) {
    return (a > b ? a - b : b - a) > a / 16;
  };
  if (memory_differs(m.memory_bytes, here.memory_bytes)) return refuse("amount of memory");
  if (m.drivers != here.drivers) return refuse("OpenCL driver installation");
  return {};
}

std::string platform_cache_path() {
  const std::string cache = variable("XDG_CACHE_HOME");
  if (!cache.empty() && cache.front() == '/') return cache + "/gtrace/platform.json";
  const std::string home = variable("HOME");
  return home.empty() ? std::string() : home + "/.cache/gtrace/platform.json";
}

}  // namespace gt::model
