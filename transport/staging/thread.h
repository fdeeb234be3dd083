// Threads of ours in somebody else's process: a name that tells whose they are, small stacks, and all signals blocked
// but those that a thread raises itself. They touch the program's memory for it, and a page of that may be one that the
// program's own handler for SIGSEGV or SIGBUS makes present (lazy data, write watches, page guards): it runs on the
// thread that touched it, as it would on a driver's, and has a stack to run on. Blocked, the signal would end the
// process.
// Thread safety: all functions, once thread_begins is set. Owner: who started it joins the thread, or nobody does; what
// `argument` points to must live until `run` is done with it.
#pragma once

#include <pthread.h>

#include <cstddef>

namespace gt::staging {

// Called first in each of them; nullptr: nothing. Set before the first thread starts.
extern void (*thread_begins)();

// Handlers of the program's have half of it at least; only what is touched takes memory.
constexpr size_t SmallStack = size_t{1} << 20;

// False: the system refused. `name`: at most 15 characters.
bool start_thread(const char* name, void* (*run)(void*), void* argument, pthread_t* out,
                  size_t stack_bytes = SmallStack) noexcept;
// One that nobody joins.
bool start_detached(const char* name, void* (*run)(void*), void* argument, size_t stack_bytes = SmallStack) noexcept;

}  // namespace gt::staging
