// What the kernels of an OpenCL C program do with their arguments, found with libclang.
//
// For each argument: its name, address space, and whether the kernel reads or writes the memory
// behind it. The answer is an upper bound: an access that may happen is never left out. Where the
// source does not tell (it does not compile here, is C++ for OpenCL, turns pointers into integers,
// loads pointers from buffers, ...) the answer is read_write.
//
// Sources come from programs, so they are hostile: libclang runs in a forked child with limits on
// time and memory. What it does to that child costs the facts of one source, never the caller.
// Thread safety: read_kernels() forks and may be called from any thread of a program that holds no
// lock of libclang. Cost: some 50 ms for a source, in the child.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "traces/kernels/kernel_args.h"

namespace gt::kernels {

struct Limits {
  unsigned seconds = 10;  // of processor time; twice that of wall time
  uint64_t memory_bytes = 2ull << 30;
};

// `options`: as given to clBuildProgram. `folder`: where relative paths of includes begin; "": in the
// present folder. Always answers; a source that libclang could not live through has no kernels and a note.
Source read_kernels(std::string_view source, std::string_view options, const Limits& limits = {},
                    const std::string& folder = {});

}  // namespace gt::kernels
