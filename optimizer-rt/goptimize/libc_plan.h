// How the functions of libc that release memory can be led to the pools, and those that move the break to the heap's
// room: for a program that will get pool memory, or whose blocks may be pinned.
#pragma once

#include <string>

namespace gt::opt {

// The plan (tracer/interpose/entry_patch.h) for the libc that `binary` will be run with; "" when there is none.
std::string libc_entries(const std::string& binary);

}  // namespace gt::opt
