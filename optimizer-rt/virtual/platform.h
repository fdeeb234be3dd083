// The one platform: all devices of all executors that answered, in the order of the configuration.
#pragma once

#include <string>
#include <vector>

#include "optimizer-rt/virtual/object.h"
#include "optimizer-rt/virtual/session.h"

struct _cl_platform_id : gt::virt::Object {
  static constexpr auto Kind = gt::virt::Type::Platform;
  static constexpr cl_int Invalid = CL_INVALID_PLATFORM;

  _cl_platform_id() : Object(Kind) {}
  std::vector<_cl_device_id*> devices;  // they live as long as the process
};

namespace gt::virt {

// Connects on first use. Without any device there is no platform: nullptr.
_cl_platform_id* platform();
_cl_platform_id* connected_platform();  // without connecting

}  // namespace gt::virt
