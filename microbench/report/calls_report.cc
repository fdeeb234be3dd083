// Two ways to say the same.
#include "microbench/report/calls_report.h"

#include <nlohmann/json.hpp>

#include "microbench/report/units.h"

namespace gt::bench {
namespace {

using Json = nlohmann::ordered_json;

std::string cell(const DeviceCalls& device, size_t call, const DeviceCalls& first) {
  const auto& cost = device.costs[call];
  if (!cost) return "-";
  const auto& base = first.costs[call];
  if (&device == &first || !base || base->value <= 0) return time_text(cost->value);
  return fmt::format("{} ({:.2f}x)", time_text(cost->value), cost->value / base->value);
}

}  // namespace

std::string calls_table(const std::vector<DeviceCalls>& devices) {
  std::string out;
  for (size_t d = 0; d < devices.size(); ++d) {
    out += fmt::format("{}: {} ({}, driver {})", d, devices[d].name, devices[d].platform, devices[d].driver);
    out += devices[d].error.empty() ? "\n" : ", not measured: " + devices[d].error + "\n";
  }
  out += fmt::format("\n{:<40}", "");
  for (size_t d = 0; d < devices.size(); ++d) out += fmt::format("{:>22}", d);
  for (size_t call = 0; call < CallNames.size(); ++call) {
    out += fmt::format("\n{:<40}", CallNames[call]);
    for (const DeviceCalls& device : devices) out += fmt::format("{:>22}", cell(device, call, devices.front()));
  }
  return out + "\n";
}

std::string calls_json(const std::vector<DeviceCalls>& devices) {
  Json out = {{"format", "gtrace-calls"}, {"version", 1}, {"devices", Json::array()}};
  for (const DeviceCalls& d : devices) {
    Json j = {{"platform", d.platform}, {"name", d.name}, {"driver", d.driver}};
    if (!d.error.empty()) j["error"] = d.error;
    for (size_t call = 0; d.error.empty() && call < CallNames.size(); ++call) {
      const auto& cost = d.costs[call];
      j["calls"][std::string(CallNames[call])] =
          cost ? Json{{"ns", cost->value}, {"low", cost->low}, {"high", cost->high}} : Json();
    }
    out["devices"].push_back(std::move(j));
  }
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gt::bench
