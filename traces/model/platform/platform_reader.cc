// Reading platform.json, strictly.
#include <errno.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "traces/base/text_file.h"
#include "traces/model/platform/platform.h"
#include "traces/model/platform/platform_keys.h"

namespace gt::model {
namespace {

using Json = nlohmann::ordered_json;
using Keys = std::initializer_list<const char*>;

// Walks a document, remembers the first error with its place; after it every read gives a default.
class Reader {
 public:
  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }

  Platform platform(const Json& j) {
    Platform p;
    if (!j.is_object() || !j.contains("format") || j["format"] != PlatformFormat)
      return fail("", "not a gtrace platform file"), p;
    if (!version(j, p)) return p;
    if (!object(j, "", {"format", "version", "machine", "quick", "devices"}, {"links"}, {"host", "failed"},
                {"unfinished", "unused", "unlisted"}))
      return p;
    p.machine = machine(j["machine"], "machine");
    p.quick = boolean(j["quick"], "quick");
    if (const Json* h = member(j, "host")) p.host = host(*h, "host");
    each(j["devices"], "devices",
         [&](const Json& d, const std::string& at) { p.devices.push_back(device(d, at, p.quick)); });
    if (const Json* f = member(j, "failed"))
      each(*f, "failed", [&](const Json& d, const std::string& at) { p.failed.push_back(failed(d, at)); });
    if (const Json* u = member(j, "unfinished"))
      each(*u, "unfinished",
           [&](const Json& d, const std::string& at) { p.unfinished.push_back(unfinished(d, at, p.quick)); });
    if (const Json* u = member(j, "unused"))
      each(*u, "unused", [&](const Json& d, const std::string& at) { p.unused.push_back(device_name(d, at)); });
    if (const Json* u = member(j, "unlisted")) p.unlisted = boolean(*u, "unlisted");
    if (const Json* l = member(j, "links"))
      each(*l, "links", [&](const Json& d, const std::string& at) { p.links.push_back(link(d, at)); });
    return p;
  }

 private:
  void fail(const std::string& where, const std::string& what) {
    if (ok()) status_ = Status(Kind::Corrupt, (where.empty() ? "top level" : where) + ": " + what);
  }

  bool version(const Json& j, Platform& p) {
    if (!j.contains("version")) return fail("", "\"version\" is missing"), false;
    const Json& v = j["version"];
    for (version_ = OldestPlatformVersion; version_ <= PlatformVersion; ++version_)
      if (v == version_) return p.version = version_, true;
    return fail("version", "this program reads the versions " + std::to_string(OldestPlatformVersion) + " to " +
                               std::to_string(PlatformVersion)), false;
  }

  // The object at `where`, holding `keys`, perhaps `optional`, since version 2 perhaps `since_2`, since version 3
  // perhaps `since_3`: nothing else.
  bool object(const Json& j, const std::string& where, Keys keys, Keys optional = {}, Keys since_2 = {},
              Keys since_3 = {}) {
    if (!j.is_object()) return fail(where, "an object is expected"), false;
    for (const char* key : keys)
      if (!j.contains(key)) return fail(where, std::string("\"") + key + "\" is missing"), false;
    for (const auto& entry : j.items()) {
      const std::string& key = entry.key();
      const auto in = [&key](Keys list) {
        return std::any_of(list.begin(), list.end(), [&](const char* k) { return key == k; });
      };
      const bool known = in(keys) || in(optional) || (version_ >= 2 && in(since_2)) ||
                         (version_ >= 3 && in(since_3));
      if (!known) return fail(where, "unknown key \"" + key.substr(0, 40) + "\""), false;
    }
    return ok();
  }

  static const Json* member(const Json& j, const char* key) {
    const auto at = j.find(key);
    return at == j.end() ? nullptr : &*at;
  }

  // Reads the member `key` with `read` when it is there.
  template <class T, class Read>
  void maybe(const Json& j, const std::string& where, const char* key, std::optional<T>& out, Read read) {
    if (const Json* value = member(j, key)) out = (this->*read)(*value, where + "." + key);
  }

  template <class Use>
  void each(const Json& j, const std::string& where, Use use) {
    if (!j.is_array()) return fail(where, "a list is expected");
    for (size_t i = 0; i < j.size() && ok(); ++i) use(j[i], where + "[" + std::to_string(i) + "]");
  }

  std::string text(const Json& j, const std::string& where) {
    if (j.is_string()) return j.get<std::string>();
    return fail(where, "a text is expected"), std::string();
  }
  uint64_t natural(const Json& j, const std::string& where, uint64_t most = UINT64_MAX) {
    if (!j.is_number_unsigned()) return fail(where, "a natural number is expected"), uint64_t{0};
    const uint64_t n = j.get<uint64_t>();
    return n <= most ? n : (fail(where, "out of range"), uint64_t{0});
  }
  double number(const Json& j, const std::string& where, double least, double most) {
    if (!j.is_number()) return fail(where, "a number is expected"), 0.0;
    const double n = j.get<double>();
    return n >= least && n <= most ? n : (fail(where, "out of range"), 0.0);
  }
  double duration(const Json& j, const std::string& where) { return number(j, where, 0, MaxDurationNs); }
  bool boolean(const Json& j, const std::string& where) {
    if (j.is_boolean()) return j.get<bool>();
    return fail(where, "true or false is expected"), false;
  }

  // A list of knots, or (since version 2) an object that says how well they were measured, too.
  Curve curve(const Json& j, const std::string& where) {
    if (version_ < 2 || !j.is_object()) return knots(j, where);
    Curve c;
    if (!object(j, where, {"knots", "measured", "samples", "outliers", "worst_error", "noisy"})) return c;
    c = knots(j["knots"], where + ".knots");
    CurveQuality q;
    const Json& range = j["measured"];
    if (!range.is_array() || range.size() != 2 || !range[0].is_number() || !range[1].is_number())
      return fail(where + ".measured", "[least size, largest size] is expected"), c;
    q.from = range[0].get<double>();
    q.to = range[1].get<double>();
    q.samples = natural(j["samples"], where + ".samples");
    q.outliers = natural(j["outliers"], where + ".outliers");
    q.worst_error = number(j["worst_error"], where + ".worst_error", 0, 1e9);
    each(j["noisy"], where + ".noisy",
         [&](const Json& n, const std::string& at) { q.noisy.push_back(number(n, at, 1, 1e30)); });
    if (ok() && !q.sound()) fail(where, "the measured range, its noisy sizes or the counts contradict each other");
    if (ok()) c.set_quality(std::move(q));
    return c;
  }
  Curve knots(const Json& j, const std::string& where) {
    if (!j.is_array() || j.empty()) return fail(where, "a list of [size, ns] is expected"), Curve();
    std::vector<Knot> list;
    for (const Json& k : j) {
      const bool pair = k.is_array() && k.size() == 2 && k[0].is_number() && k[1].is_number();
      if (!pair) return fail(where, "each knot must be [size, ns]"), Curve();
      list.push_back({k[0].get<double>(), k[1].get<double>()});
    }
    Result<Curve> made = Curve::make(std::move(list));
    if (!made) return fail(where, made.status().text()), Curve();
    return std::move(*made);
  }

  Machine machine(const Json& j, const std::string& where) {
    Machine m;
    if (!object(j, where, {"cpu", "cpus", "memory_bytes", "drivers"}, {}, {"accelerators"})) return m;
    m.cpu = text(j["cpu"], where + ".cpu");
    m.cpus = static_cast<uint32_t>(natural(j["cpus"], where + ".cpus", UINT32_MAX));
    m.memory_bytes = natural(j["memory_bytes"], where + ".memory_bytes");
    m.drivers = text(j["drivers"], where + ".drivers");
    maybe(j, where, "accelerators", m.accelerators, &Reader::text);
    return m;
  }

  HostCosts host(const Json& j, const std::string& where) {
    HostCosts h;
    if (!object(j, where, {}, {"first_touch", "copy_threads"})) return h;
    maybe(j, where, "first_touch", h.first_touch, &Reader::curve);
    const Json* list = member(j, "copy_threads");
    if (!list) return h;
    each(*list, where + ".copy_threads", [&](const Json& r, const std::string& at) {
      if (!r.is_array() || r.size() != 2) return fail(at, "[threads, bytes a second] is expected");
      const auto threads = static_cast<uint32_t>(natural(r[0], at + "[0]", MaxThreads));
      h.copy_threads.push_back({threads, number(r[1], at + "[1]", 0, MaxRate)});
      const size_t n = h.copy_threads.size();
      if (threads <= (n < 2 ? 0 : h.copy_threads[n - 2].threads)) fail(at, "numbers of threads must ascend");
    });
    return h;
  }

  BothWays both(const Json& j, const std::string& where) {
    BothWays b;
    if (!object(j, where, {"h2d", "d2h"})) return b;
    b.h2d = curve(j["h2d"], where + ".h2d");
    b.d2h = curve(j["d2h"], where + ".d2h");
    return b;
  }
  PolicyCosts costs(const Json& j, const std::string& where) {
    PolicyCosts c;
    if (!object(j, where, {"allocation", "h2d", "d2h", "max_bytes", "noise"}, {}, {"window"})) return c;
    c.allocation = curve(j["allocation"], where + ".allocation");
    c.h2d = curve(j["h2d"], where + ".h2d");
    c.d2h = curve(j["d2h"], where + ".d2h");
    c.max_bytes = natural(j["max_bytes"], where + ".max_bytes");
    c.noise = number(j["noise"], where + ".noise", 0, 100);
    maybe(j, where, "window", c.window, &Reader::both);
    return c;
  }
  StagedCosts staged(const Json& j, const std::string& where) {
    StagedCosts s;
    if (!object(j, where, {"h2d", "d2h", "threads", "chunk_bytes"})) return s;
    s.h2d = curve(j["h2d"], where + ".h2d");
    s.d2h = curve(j["d2h"], where + ".d2h");
    s.threads = static_cast<uint32_t>(natural(j["threads"], where + ".threads", MaxThreads));
    s.chunk_bytes = natural(j["chunk_bytes"], where + ".chunk_bytes");
    if (ok() && s.chunk_bytes == 0) fail(where + ".chunk_bytes", "out of range");
    return s;
  }
  SvmCosts svm(const Json& j, const std::string& where) {
    SvmCosts s;
    if (!object(j, where, {"standard", "pinned"}, {}, {"staged"})) return s;
    s.standard = both(j["standard"], where + ".standard");
    s.pinned = both(j["pinned"], where + ".pinned");
    maybe(j, where, "staged", s.staged, &Reader::both);
    return s;
  }
  LaunchCosts launch(const Json& j, const std::string& where) {
    LaunchCosts l;
    if (!object(j, where, {"sync_ns", "async_ns"})) return l;
    l.sync_ns = duration(j["sync_ns"], where + ".sync_ns");
    l.async_ns = duration(j["async_ns"], where + ".async_ns");
    return l;
  }
  MapCosts map(const Json& j, const std::string& where) {
    MapCosts m;
    if (!object(j, where, {"read", "write"})) return m;
    m.read = curve(j["read"], where + ".read");
    m.write = curve(j["write"], where + ".write");
    return m;
  }
  DeviceType type(const Json& j, const std::string& where) {
    const std::string name = text(j, where);
    const auto at = std::find(DeviceTypeNames.begin(), DeviceTypeNames.end(), name);
    if (at != DeviceTypeNames.end()) return static_cast<DeviceType>(at - DeviceTypeNames.begin());
    return fail(where, "no type of device is called so"), DeviceType::Unknown;
  }

  void policies(const Json& j, const std::string& where, DeviceCosts& d) {
    if (!j.is_object()) return fail(where, "an object is expected");
    for (const auto& [key, value] : j.items()) {
      const auto policy = parse_policy(key);
      if (!policy) return fail(where, "unknown policy \"" + key.substr(0, 40) + "\"");
      d.policies[static_cast<size_t>(*policy)] = costs(value, where + "." + key);
    }
  }
  DeviceCosts device(const Json& j, const std::string& where, bool quick) {
    DeviceCosts d = costs_so_far(j, where, quick, {});
    if (ok() && !d.costs(Policy::Standard)) fail(where + ".policies", "\"standard\" is missing");
    return d;
  }
  UnfinishedDevice unfinished(const Json& j, const std::string& where, bool quick) {
    UnfinishedDevice u;
    u.costs = costs_so_far(j, where, quick, {"steps"});
    if (!ok()) return u;
    if (!j.contains("steps")) return fail(where, "\"steps\" is missing"), u;
    each(j["steps"], where + ".steps", [&](const Json& s, const std::string& at) { u.steps.push_back(text(s, at)); });
    return u;
  }
  // `more`: keys that are the caller's to read.
  DeviceCosts costs_so_far(const Json& j, const std::string& where, bool quick, Keys more) {
    DeviceCosts d;
    d.quick = quick;
    if (!object(j, where, {"platform", "name", "driver", "policies"}, more,
                {"quick", "type", "host_unified", "pin", "staged", "svm", "launch", "copy", "map", "rect", "duplex"}))
      return d;
    d.platform = text(j["platform"], where + ".platform");
    d.name = text(j["name"], where + ".name");
    d.driver = text(j["driver"], where + ".driver");
    policies(j["policies"], where + ".policies", d);
    if (const Json* q = member(j, "quick")) d.quick = boolean(*q, where + ".quick");
    if (const Json* t = member(j, "type")) d.type = type(*t, where + ".type");
    maybe(j, where, "host_unified", d.host_unified, &Reader::boolean);
    maybe(j, where, "pin", d.pin, &Reader::curve);
    maybe(j, where, "staged", d.staged, &Reader::staged);
    maybe(j, where, "svm", d.svm, &Reader::svm);
    maybe(j, where, "launch", d.launch, &Reader::launch);
    maybe(j, where, "copy", d.copy, &Reader::curve);
    maybe(j, where, "map", d.map, &Reader::map);
    maybe(j, where, "rect", d.rect, &Reader::both);
    maybe(j, where, "duplex", d.duplex, &Reader::curve);
    return d;
  }

  FailedDevice failed(const Json& j, const std::string& where) {
    FailedDevice f;
    if (!object(j, where, {"platform", "name", "driver", "error"}, {}, {"time_s"}, {"given_up"})) return f;
    f.platform = text(j["platform"], where + ".platform");
    f.name = text(j["name"], where + ".name");
    f.driver = text(j["driver"], where + ".driver");
    f.error = text(j["error"], where + ".error");
    if (const Json* t = member(j, "time_s")) f.time_s = natural(*t, where + ".time_s", MaxTimeS);
    if (const Json* g = member(j, "given_up")) f.given_up = boolean(*g, where + ".given_up");
    return f;
  }
  DeviceName device_name(const Json& j, const std::string& where) {
    DeviceName d;
    if (!object(j, where, {"platform", "name", "driver"})) return d;
    d.platform = text(j["platform"], where + ".platform");
    d.name = text(j["name"], where + ".name");
    d.driver = text(j["driver"], where + ".driver");
    return d;
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

  Status status_;
  int version_ = 0;
};

}  // namespace

Result<Platform> parse_platform(std::string_view text, std::string_view name) {
  const std::string place(name);
  if (text.size() > MaxPlatformBytes) return Status(Kind::Corrupt, place + ": too large for a platform file");
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
  const Result<std::string> text = read_text_file(path, MaxPlatformBytes, "a platform file");
  return text ? parse_platform(*text, path) : text.status();
}

}  // namespace gt::model
