// Writing platform.json.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "traces/base/whole_file.h"
#include "traces/model/platform/platform.h"
#include "traces/model/platform/platform_keys.h"

namespace gt::model {
namespace {

using Json = nlohmann::ordered_json;

Json knots_json(const Curve& c) {
  Json out = Json::array();
  for (const Knot& k : c.knots()) out.push_back({k.size, k.ns});
  return out;
}

Json curve_json(const Curve& c) {
  if (!c.quality()) return knots_json(c);
  const CurveQuality& q = *c.quality();
  return {{"knots", knots_json(c)},
          {"measured", {q.from, q.to}},
          {"samples", q.samples},
          {"outliers", q.outliers},
          {"worst_error", q.worst_error},
          {"noisy", q.noisy}};
}

Json both_json(const BothWays& b) { return {{"h2d", curve_json(b.h2d)}, {"d2h", curve_json(b.d2h)}}; }

Json costs_json(const PolicyCosts& c) {
  Json out = {{"allocation", curve_json(c.allocation)},
              {"h2d", curve_json(c.h2d)},
              {"d2h", curve_json(c.d2h)},
              {"max_bytes", c.max_bytes},
              {"noise", c.noise}};
  if (c.window) out["window"] = both_json(*c.window);
  return out;
}

Json staged_json(const StagedCosts& s) {
  return {{"h2d", curve_json(s.h2d)},
          {"d2h", curve_json(s.d2h)},
          {"threads", s.threads},
          {"chunk_bytes", s.chunk_bytes}};
}

Json svm_json(const SvmCosts& s) {
  Json out = {{"standard", both_json(s.standard)}, {"pinned", both_json(s.pinned)}};
  if (s.staged) out["staged"] = both_json(*s.staged);
  return out;
}

Json machine_json(const Machine& m) {
  Json out = {{"cpu", m.cpu}, {"cpus", m.cpus}, {"memory_bytes", m.memory_bytes}, {"drivers", m.drivers}};
  if (m.accelerators) out["accelerators"] = *m.accelerators;
  return out;
}

// `quick`: what the file says of all devices.
Json device_json(const DeviceCosts& d, bool quick) {
  Json out = {{"platform", d.platform}, {"name", d.name}, {"driver", d.driver}};
  if (d.quick != quick) out["quick"] = d.quick;
  if (d.type != DeviceType::Unknown) out["type"] = DeviceTypeNames[static_cast<size_t>(d.type)];
  if (d.host_unified) out["host_unified"] = *d.host_unified;
  out["policies"] = Json::object();
  for (size_t i = 0; i < PolicyCount; ++i)
    if (d.policies[i]) out["policies"][std::string(PolicyNames[i])] = costs_json(*d.policies[i]);
  if (d.pin) out["pin"] = curve_json(*d.pin);
  if (d.staged) out["staged"] = staged_json(*d.staged);
  if (d.svm) out["svm"] = svm_json(*d.svm);
  if (d.launch) out["launch"] = {{"sync_ns", d.launch->sync_ns}, {"async_ns", d.launch->async_ns}};
  if (d.copy) out["copy"] = curve_json(*d.copy);
  if (d.map) out["map"] = {{"read", curve_json(d.map->read)}, {"write", curve_json(d.map->write)}};
  if (d.rect) out["rect"] = both_json(*d.rect);
  if (d.duplex) out["duplex"] = curve_json(*d.duplex);
  return out;
}

Json host_json(const HostCosts& h) {
  Json out = Json::object();
  if (h.first_touch) out["first_touch"] = curve_json(*h.first_touch);
  for (const CopyRate& r : h.copy_threads) out["copy_threads"].push_back({r.threads, r.bytes_per_s});
  return out;
}

Json failed_json(const FailedDevice& f) {
  Json out = {{"platform", f.platform}, {"name", f.name}, {"driver", f.driver}, {"error", f.error}};
  if (f.time_s) out["time_s"] = f.time_s;
  if (f.given_up) out["given_up"] = true;
  return out;
}

Json name_json(const DeviceName& d) { return {{"platform", d.platform}, {"name", d.name}, {"driver", d.driver}}; }

Json unfinished_json(const UnfinishedDevice& d, bool quick) {
  Json out = device_json(d.costs, quick);
  out["steps"] = d.steps;
  return out;
}

Json link_json(const LinkCosts& l) {
  return {{"name", l.name},
          {"latency_ns", l.latency_ns},
          {"command_ns", l.command_ns},
          {"put", curve_json(l.put)},
          {"get", curve_json(l.get)}};
}

}  // namespace

std::string format_platform(const Platform& platform) {
  Json j = {{"format", PlatformFormat},
            {"version", PlatformVersion},
            {"machine", machine_json(platform.machine)},
            {"quick", platform.quick}};
  if (Json host = host_json(platform.host); !host.empty()) j["host"] = std::move(host);
  j["devices"] = Json::array();
  for (const DeviceCosts& d : platform.devices) j["devices"].push_back(device_json(d, platform.quick));
  for (const FailedDevice& f : platform.failed) j["failed"].push_back(failed_json(f));
  for (const UnfinishedDevice& d : platform.unfinished)
    j["unfinished"].push_back(unfinished_json(d, platform.quick));
  for (const DeviceName& d : platform.unused) j["unused"].push_back(name_json(d));
  if (platform.unlisted) j["unlisted"] = true;
  for (const LinkCosts& l : platform.links) j["links"].push_back(link_json(l));
  return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Status write_platform(const Platform& platform, const std::string& path) {
  const std::filesystem::path target(path);
  std::error_code error;
  if (target.has_parent_path()) std::filesystem::create_directories(target.parent_path(), error);
  const Status status = write_whole_file(path, format_platform(platform));
  return status.ok() || status.kind() == Kind::Invalid ? status : status.at("cannot write the platform file");
}

}  // namespace gt::model
