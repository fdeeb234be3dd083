// The OpenCL devices of this machine, as the installed loader lists them.
// Thread safety: values; list_devices from one thread.
#pragma once

#include <CL/cl.h>

#include <cstdint>
#include <string>
#include <vector>

#include "traces/base/status.h"
#include "traces/model/platform/platform.h"

namespace gt::bench {

struct Device {
  cl_platform_id platform_id = nullptr;  // nullptr: the loader does not list it
  cl_device_id id = nullptr;
  std::string platform, name, driver;
  model::DeviceType type = model::DeviceType::Unknown;
  bool host_unified = false;
  uint64_t memory_bytes = 0;
  uint64_t max_buffer_bytes = 0;
};

// Appends the platform's.
void list_of_platform(cl_platform_id platform, std::vector<Device>& out);

// Those that `text` names, PLATFORM/NAME, alike ones once. No other platform is asked for devices: its driver may be
// slow, or hang. Invalid: there is none.
Result<std::vector<Device>> find_devices(const std::string& text);

// Unsupported, with the reason, when there is no driver or no device.
Result<std::vector<Device>> list_devices();

}  // namespace gt::bench
