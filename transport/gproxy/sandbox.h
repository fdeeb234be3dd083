// What a worker may do with files: Landlock, which needs no rights and cannot be taken off again.
//
// Compilers read files, and kernels that run on a CPU do what they like: both do what the client wants. So a worker
// reads what drivers are made of (system folders, what the variables of loaders and drivers name), not home folders or
// other data, and it writes where drivers write: devices, their caches, a folder of the proxy's for temporary files.
// Thread safety: enter_sandbox() holds for the thread that calls it and those that it starts later, not for others.
#pragma once

#include <string>
#include <vector>

#include "traces/base/status.h"
#include "transport/gproxy/devices.h"

namespace gt::proxy {

struct Sandbox {
  std::vector<std::string> reads, writes;  // files and folders, with what is in them; what is not there does not matter
};

// Unsupported: this kernel does not have it.
Status sandbox_available();
// The folders in which the drivers of these devices keep what they compiled: inside, they could not make them.
void make_cache_folders(const std::vector<DeviceFacts>& devices);
// For the drivers (their libraries' paths) in this environment. `temporary`: for temporary files.
Sandbox worker_sandbox(const std::vector<std::string>& drivers, const std::string& temporary);
Status enter_sandbox(const Sandbox& sandbox);

}  // namespace gt::proxy
