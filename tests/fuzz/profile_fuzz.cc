// Fuzz target: any bytes as a profile. What is accepted must survive being written and read again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "traces/model/profile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto profile = gt::model::parse_profile(text, "fuzz");
  if (!profile.ok()) return 0;
  const std::string written = gt::model::format_profile(*profile);
  const auto again = gt::model::parse_profile(written, "fuzz");
  if (!again.ok() || gt::model::format_profile(*again) != written) std::abort();
  return 0;
}
