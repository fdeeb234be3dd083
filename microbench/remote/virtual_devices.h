// Remote devices, without a loader that knows of them: the virtual platform's library (lib/gtrace/libgtrace-remote.so)
// is opened by path and asked for its platform. Its objects are an ICD's, so the loader's functions work on them.
// Thread safety: none.
#pragma once

#include "microbench/base/devices.h"

namespace gt::bench {

// What the library takes from the environment; empty: left as it is.
struct RemoteSettings {
  std::string urls;  // comma separated; the devices are listed in their order
  std::string token_file, cert, key, ca;
};

// Once in a process. `tools_folder`: where this program is. Unsupported when there is no library or no device.
Result<std::vector<Device>> list_remote_devices(const std::string& tools_folder, const RemoteSettings& settings);

}  // namespace gt::bench
