// What the commands that measure devices share. Thread safety: none.
#pragma once

#include <string>
#include <vector>

#include "microbench/devices.h"
#include "traces/base/settings_cli.h"

namespace gt::bench {

constexpr const char* Program = "gmicrobench";

// All devices, or the one of --device.
Result<std::vector<Device>> chosen_devices(const Options& options);

// Whether a file can be written is asked before minutes of measuring, not after.
Status can_write(const std::string& path);

// To standard output, all of it.
Status print_text(const std::string& text);

}  // namespace gt::bench
