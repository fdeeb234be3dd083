// Fuzz target: any bytes as platform.json. What is accepted survives being written and read again.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/fuzz/seeds.h"
#include "traces/model/platform/platform.h"

std::vector<gt::Bytes> fuzz_seeds() {
  constexpr std::string_view First =
      R"({"format": "gtrace-platform", "version": 1, "quick": true, "machine": {"cpu": "a", "cpus": 1,
          "memory_bytes": 1, "drivers": ""}, "devices": [{"platform": "p", "name": "d", "driver": "1",
          "policies": {"standard": {"allocation": [[4096, 1000], [1073741824, 262144000]], "h2d": [[64, 900],
          [4096, 1000], [1073741824, 100000000]], "d2h": [[4096, 1000]], "max_bytes": 0, "noise": 0.1}}}]})";
  const auto platform = gt::model::parse_platform(First, "seed");
  if (!platform.ok()) std::abort();
  gt::model::Platform all = *platform;
  all.unfinished.push_back({all.devices[0], {"launch", "copy"}});
  all.unfinished[0].costs.policies = {};
  all.unused.push_back({"p", "e", "1"});
  all.unlisted = true;
  const std::string newest = gt::model::format_platform(all);
  return {{First.begin(), First.end()}, {newest.begin(), newest.end()}};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto platform =
      gt::model::parse_platform({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!platform.ok()) return 0;
  for (const auto& device : platform->devices)
    for (const auto& costs : device.policies)
      if (costs && !(costs->h2d(1e6) > 0)) std::abort();
  for (const auto& device : platform->devices) {
    for (const auto* curve : {&device.pin, &device.copy, &device.duplex})
      if (*curve && (!((**curve)(1e6) > 0) || (curve->value().quality() && !curve->value().quality()->sound())))
        std::abort();
    if (device.staged && (device.staged->chunk_bytes == 0 || !(device.staged->h2d(1e6) > 0))) std::abort();
  }
  const std::string text = gt::model::format_platform(*platform);
  const auto again = gt::model::parse_platform(text, "fuzz");
  if (!again.ok() || again->devices.size() != platform->devices.size()) std::abort();
  if (again->links.size() != platform->links.size() || again->unused != platform->unused) std::abort();
  if (again->unfinished.size() != platform->unfinished.size()) std::abort();
  if (gt::model::format_platform(*again) != text) std::abort();
  for (const auto& link : platform->links)
    if (!(link.put(1e6) > 0)) std::abort();
  return 0;
}
