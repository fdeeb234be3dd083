// The devices that a run uses, their names and clocks, and the queues and contexts that have times of their own.
//
// Thread safety: none. Cost: a search through some devices.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "tracer/collect/timed_objects.h"
#include "traces/model/folded/timeline.h"

namespace gt::tracer {

struct TracedDevice {
  uint64_t handle = 0;
  uint32_t process = 0;
  std::string name;
  uint32_t slot = 0;  // of its object: all devices are of one class
  model::DeviceClock clock;  // with timelines
};

class Devices {
 public:
  TimedObjects timed;

  // The number of a process's device.
  uint32_t number_of(uint32_t process, uint64_t handle) {
    for (uint32_t i = 0; i < devices_.size(); ++i) {
      if (devices_[i].handle == handle && devices_[i].process == process) return i;
    }
    devices_.push_back({handle, process, {}, 0, {}});
    return static_cast<uint32_t>(devices_.size() - 1);
  }
  TracedDevice& operator[](uint32_t number) { return devices_[number]; }
  std::deque<TracedDevice>& all() { return devices_; }

 private:
  std::deque<TracedDevice> devices_;  // whose clocks timelines refer to
};

}  // namespace gt::tracer
