// Which devices of this machine stand for those of a recording.
//
// A recorded device is replayed on the one of its name: the second of that name on the second. Where `--device` says
// otherwise, or there is none of its name, all recorded devices stand on what was chosen.
// Thread safety: constant after choose().
#pragma once

#include <CL/cl.h>

#include <string>
#include <string_view>
#include <vector>

#include "tracer/gtrace/replay/opencl_library.h"
#include "traces/model/fold/event.h"

namespace gt::tracer {

struct ReplayDevice {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  std::string name, platform_name;
};

// All devices of this machine, in the order of platforms.
std::vector<ReplayDevice> list_devices(const OpenClLibrary& cl);

class DeviceChoice {
 public:
  // `selection`: "" (by name), a number in the list, gpu, cpu or accelerator, or a pattern of names (*H200*).
  // Invalid: nothing fits. Unsupported: there is no device at all.
  static Result<DeviceChoice> choose(const OpenClLibrary& cl, const model::Trace& trace, const std::string& selection);

  // For the recorded device of this slot.
  const ReplayDevice& device(int64_t slot) const;
  const std::vector<ReplayDevice>& by_slot() const { return by_slot_; }  // never empty
  const std::string& recorded() const { return recorded_; }              // names of the recorded ones
  bool same() const { return same_; }                                    // the names are those of the recording

 private:
  std::vector<ReplayDevice> by_slot_;
  std::string recorded_;
  bool same_ = true;
};

}  // namespace gt::tracer
