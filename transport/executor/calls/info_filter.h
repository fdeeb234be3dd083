// How infos of platforms and devices are changed for clients that are elsewhere.
// Thread safety: no state.
#pragma once

#include <CL/cl.h>

#include "traces/base/bytes.h"
#include "transport/executor/base/options.h"

namespace gt::exec {

// False: the client is not told of it at all.
bool filter_device_info(cl_device_info name, const Limits& limits, Bytes& value);
bool filter_platform_info(cl_platform_info name, Bytes& value);

}  // namespace gt::exec
