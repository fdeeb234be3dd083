// Threads of ours in somebody else's process: signals from outside blocked, small stacks, names that tell whose they
// are.
#pragma once

#include <pthread.h>

#include <cstddef>

namespace gt::staging {

// Called first in each of them; nullptr: nothing. Set before the first thread starts.
extern void (*thread_begins)();

constexpr size_t SmallStack = size_t{256} << 10;

// False: the system refused. `name`: at most 15 characters.
bool start_thread(const char* name, void* (*run)(void*), void* argument, pthread_t* out,
                  size_t stack_bytes = SmallStack) noexcept;
// One that nobody joins.
bool start_detached(const char* name, void* (*run)(void*), void* argument, size_t stack_bytes = SmallStack) noexcept;

}  // namespace gt::staging
