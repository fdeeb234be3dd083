// This machine's OpenCL, as workers and the probe see it: the ICD loader, opened at run time, and what it lists.
//
// Loading it runs drivers' code, which may crash, hang, start threads: never in the supervisor.
// Thread safety: none.
#pragma once

#include <CL/cl.h>

#include <memory>
#include <vector>

#include "traces/base/status.h"
#include "transport/gproxy/devices.h"

namespace gt::proxy {

class OpenCl {
 public:
  struct Device {
    cl_platform_id platform;
    cl_device_id device;
  };

  // System or Unsupported: no loader, or one that lacks what every version has.
  static Result<std::unique_ptr<OpenCl>> load();

  // Stays loaded for ever: drivers do not like to be unloaded.
  void* library() const { return library_; }
  void* function(const char* name) const;
  // Asks all platforms; the same order each time. `facts` may be nullptr.
  std::vector<Device> list(Inventory* facts) const;

 private:
  explicit OpenCl(void* library) : library_(library) {}
  void* library_;
};

}  // namespace gt::proxy
