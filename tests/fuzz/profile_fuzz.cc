// Fuzz target: any bytes as a profile. What is accepted must survive being written and read again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tests/fuzz/seeds.h"
#include "traces/model/profile/profile.h"

std::vector<gt::Bytes> fuzz_seeds() {
  gt::model::Profile profile;
  profile.program = "/usr/bin/program";
  profile.build_id = profile.trace_digest = "0123456789abcdef";
  profile.dispatch_ratio = 1.5;
  profile.eligible = true;
  profile.platform = gt::model::ProfilePlatform{"abc", "a processor", "a device", "1.0"};
  gt::model::ProfileSite site;
  site.module = "program";
  site.around = {{"", "program", 8}, {"ab", "lib.so", 16}};
  site.where = "main (a.c:1)";
  site.call = "malloc";
  site.min_bytes = 4096;
  site.max_bytes = site.typical_bytes = 1 << 20;
  site.sizes = {{4096, 1}, {1 << 20, 2}};
  site.allocations = 3;
  profile.sites = {site, site};
  profile.staging.resize(1);
  profile.routes.resize(2);
  profile.routes[0].remote = false;
  profile.routes[0].reasons = {"a reason"};
  profile.routes[1].queue.module = "program";
  const std::string text = gt::model::format_profile(profile);
  return {gt::Bytes(text.begin(), text.end())};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto profile = gt::model::parse_profile(text, "fuzz");
  if (!profile.ok()) return 0;
  const std::string written = gt::model::format_profile(*profile);
  const auto again = gt::model::parse_profile(written, "fuzz");
  if (!again.ok() || gt::model::format_profile(*again) != written) std::abort();
  return 0;
}
