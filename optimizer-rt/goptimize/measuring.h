// Measuring devices while the program waits for it, by gmicrobench in a process of its own.
// Thread safety: none; start no threads before.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "traces/base/status.h"
#include "traces/model/platform/platform.h"

namespace gt::opt {

class Measuring {
 public:
  using Clock = std::chrono::steady_clock;
  // Looked at some times a second; false: the program has ended, nobody waits any more.
  using GoesOn = std::function<bool()>;

  // Into this machine's platform file at `path`. `limit`: of all devices of this run together.
  Measuring(std::string path, std::chrono::seconds limit) : path_(std::move(path)), limit_(limit), left_(limit) {}

  // Adds the device's costs to the file, with progress on stderr, if they may be measured (failures.h), and it takes no
  // longer than is left of the limit. What is measured until then stays in the file, and is gone on with the next time;
  // if that is nothing although there was the whole limit, the device is given up. Not ok: why the file says nothing of
  // it. The process that measures ends with this one, however this one ends.
  Status measure(const model::DeviceName& device, const GoesOn& goes_on);

 private:
  Status measure_within(const model::DeviceName& device, const model::Platform& before, const GoesOn& goes_on);
  Status ended_by_limit(const model::DeviceName& device, const model::Platform& before, bool had_all);
  Status remember(const model::FailedDevice& failed) const;
  model::Platform known() const;

  std::string path_;
  std::chrono::seconds limit_;
  Clock::duration left_;
};

}  // namespace gt::opt
