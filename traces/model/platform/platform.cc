// Which platform file belongs to which machine, and where it is kept.
#include "traces/model/platform/platform.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>

namespace gt::model {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

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
  if (m.accelerators && here.accelerators && m.accelerators != here.accelerators)
    return refuse("set of graphics cards or accelerators");
  return {};
}

Result<Platform> read_platform_of_here(const std::string& path) {
  Result<Platform> platform = read_platform(path);
  if (platform) GT_TRY(matches_here(*platform, this_machine()).at(path));
  return platform;
}

uint64_t seconds_now() { return static_cast<uint64_t>(std::max<std::time_t>(std::time(nullptr), 0)); }

std::string platform_cache_path() {
  const std::string cache = variable("XDG_CACHE_HOME");
  if (!cache.empty() && cache.front() == '/') return cache + "/gtrace/platform.json";
  const std::string home = variable("HOME");
  return home.empty() ? std::string() : home + "/.cache/gtrace/platform.json";
}

}  // namespace gt::model
