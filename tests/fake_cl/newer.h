// What the fake tells with FAKE_CL_NEWER: a device of OpenCL 3.1 with the extensions that docs/virtual.md has a row
// for. Thread safety: constant.
#pragma once

#include <CL/cl.h>

#include <optional>
#include <string>
#include <vector>

namespace gt::fake {

std::string newer_extensions();  // of the device
// The address that is told to a program, and may be an argument from then on.
cl_ulong tell_address(const void* data, size_t size);
// The answer's bytes; none: it has no such information.
std::optional<std::vector<uint8_t>> newer_device_info(cl_device_info name);

}  // namespace gt::fake
