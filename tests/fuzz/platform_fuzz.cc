// Fuzz target: any bytes as platform.json. What is accepted survives being written and read again.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "traces/model/platform.h"

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
  if (again->links.size() != platform->links.size()) std::abort();
  if (gt::model::format_platform(*again) != text) std::abort();
  for (const auto& link : platform->links)
    if (!(link.put(1e6) > 0)) std::abort();
  return 0;
}
