// Threads of ours in somebody else's process: all signals blocked, small stacks, a name that tells whose they are.
#pragma once

#include <pthread.h>

namespace gt::staging {

// Called first in each of them; nullptr: nothing. Set before the first thread starts.
extern void (*thread_begins)();

// False: the system refused. `name`: at most 15 characters.
bool start_thread(const char* name, void* (*run)(void*), void* argument, pthread_t* out) noexcept;

}  // namespace gt::staging
