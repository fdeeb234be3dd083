// What programs that this one starts find in their environment, so that they are followed, too.
//
// Most programs hand their environment down, and ours with it. One that composes a new one (env -i, a cleaned
// environment for a helper) gets what it composed, and in it what led us here: our library in LD_PRELOAD,
// LD_LIBRARY_PATH and OPENCL_LAYERS, and the variables of the recording.
//
//   {"PATH=/bin", "LD_PRELOAD=my.so"}  ──►  {"PATH=/bin", "LD_PRELOAD=OURS:my.so", "GTRACE_SPOOL=..."}
//
// Invariants: an environment that has everything stays the same array, and one that names another recording stays as it
// is. Used between vfork and exec: nothing allocates, locks or writes to memory that the parent has, too.
// Thread safety: remember_environment() before there are threads; the rest is const.
#pragma once

#include <cstddef>
#include <initializer_list>

#pragma GCC visibility push(hidden)

namespace gt::interpose {

// Takes from this process's environment what its children are to have. The first of `variables` names the recording.
void remember_environment(std::initializer_list<const char*> variables);

// Bytes that with_ours() needs for this environment; 0: nothing is to be added, or nothing can be.
size_t room_for_ours(char* const* environment);
// The environment with ours in it, in `room`.
char** with_ours(char* const* environment, void* room);

}  // namespace gt::interpose

#pragma GCC visibility pop
