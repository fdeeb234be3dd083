// Reading the failures of a platform file.
#include "optimizer-rt/goptimize/failures.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "traces/model/platform/platform_merge.h"

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

// What earlier versions wrote in the place of a name when a driver did not come back: it is not said which one.
constexpr const char* WholeMachine = "first measurement";

bool is_of_device(const model::FailedDevice& f) { return !f.name.empty() && f.name != WholeMachine; }

bool is_due(const model::FailedDevice& f, uint64_t now_s) {
  // A time to come was written by a clock that was wrong.
  return !f.given_up && (f.time_s > now_s || now_s - f.time_s >= TriedAgainAfter_s);
}

const model::FailedDevice* first_failure(const model::Platform& platform) {
  const auto at = std::ranges::find_if(platform.failed, [&](auto& f) { return !has_costs(platform, f); });
  return at == platform.failed.end() ? nullptr : &*at;
}

}  // namespace

bool may_be_measured(const model::Platform& platform, const model::DeviceName& device, uint64_t now_s) {
  if (has_costs(platform, device)) return false;
  const model::FailedDevice* const failed = failure_of(platform, device);
  return !failed || is_due(*failed, now_s);
}

bool may_be_incomplete(const model::Platform& platform, uint64_t now_s) {
  if (platform.unlisted || !platform.unused.empty()) return true;
  const auto open = [&](const auto& d) { return may_be_measured(platform, {d.platform, d.name, d.driver}, now_s); };
  return std::ranges::any_of(platform.failed, [&](const auto& f) { return !is_of_device(f) || open(f); }) ||
         std::ranges::any_of(platform.unfinished, [&](const auto& u) { return open(u.costs); });
}

std::string failure_text(const model::Platform& platform) {
  const model::FailedDevice* const f = first_failure(platform);
  if (!f) return "";
  return fmt::format("{} could not be measured{}: {}", is_of_device(*f) ? f->name : "this machine", day_text(f->time_s),
                     f->error);
}

std::string next_try_text(const model::Platform& platform) {
  const model::FailedDevice* const f = first_failure(platform);
  if (!f) return "";
  return f->given_up ? " (given up: gmicrobench platform tries it again)"
                     : " (tried again after a day, or by gmicrobench platform)";
}

}  // namespace gt::opt
