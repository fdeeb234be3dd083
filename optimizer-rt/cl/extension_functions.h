// Functions of extensions in a run with remote devices: the one platform has those of all its drivers, and each goes to
// the driver whose handle it is given. What remote drivers have is there for programs that do not look whether the
// extension is; on remote devices it fails (optimizer-rt/client/dispatch.cc).
// Thread safety: all functions.
#pragma once

#include <CL/cl.h>

#pragma GCC visibility push(hidden)

namespace gt::opt {

// Answers clGetExtensionFunctionAddressForPlatform; false: the real one is to be asked.
bool extension_function(cl_platform_id platform, const char* name, void** result) noexcept;

}  // namespace gt::opt

#pragma GCC visibility pop
