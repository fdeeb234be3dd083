// Reading the failures of a platform file.
#include "optimizer-rt/goptimize/failures.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "traces/model/platform_merge.h"

namespace gt::opt {
namespace {

// A day, as the user's clock and calendar have it.
std::string day_text(uint64_t time_s) {
  const auto seconds = static_cast<std::time_t>(time_s);
  std::tm day {};
  char text[16];
  if (time_s == 0 || !::localtime_r(&seconds, &day)) return "";
  return std::strftime(text, sizeof text, " on %Y-%m-%d", &day) ? text : "";
}

}  // namespace

bool was_given_up(const model::Platform& platform) {
  return std::ranges::any_of(platform.failed, [](const model::FailedDevice& f) { return f.name == GivenUp; });
}

bool due_again(const model::Platform& platform, uint64_t now_s) {
  // A time to come was written by a clock that was wrong.
  const auto due = [&](const model::FailedDevice& f) {
    return !has_costs(platform, f) && (f.time_s > now_s || now_s - f.time_s >= TriedAgainAfter_s);
  };
  return !was_given_up(platform) && std::ranges::any_of(platform.failed, due);
}

std::string failure_text(const model::Platform& platform) {
  for (const model::FailedDevice& f : platform.failed) {
    if (has_costs(platform, f)) continue;
    const bool all = f.name.empty() || f.name == GivenUp;
    return fmt::format("{} could not be measured{}: {}", all ? "this machine" : f.name, day_text(f.time_s), f.error);
  }
  return "";
}

}  // namespace gt::opt
