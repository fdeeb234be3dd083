// Threads that the driver starts are the driver's: their memory calls are not the program's.
//
// GT_DEFINE_THREAD_HOOKS() expands to the exported pthread_create. A thread that is created while
// its creator is inside a wrapped call, or by a muted thread, begins with t_flags.muted set and
// keeps it. All other calls go straight to the real function.
// (docs/decisions/0001-wrap-pthread-create.md) Thread safety: all functions.
#pragma once

#include <pthread.h>

#include "traces/base/reentry.h"

#pragma GCC visibility push(hidden)

namespace gt::interpose {

using ThreadStart = void* (*)(void*);

// pthread_create of the C library; EAGAIN when there is none.
int real_pthread_create(pthread_t* thread, const pthread_attr_t* attr, ThreadStart start,
                        void* arg);
int create_muted_thread(pthread_t* thread, const pthread_attr_t* attr, ThreadStart start,
                        void* arg);

}  // namespace gt::interpose

#pragma GCC visibility pop

#define GT_DEFINE_THREAD_HOOKS()                                                                  \
  extern "C" __attribute__((visibility("default"))) int pthread_create(                           \
      pthread_t* thread, const pthread_attr_t* attr, void* (*start)(void*), void* arg) noexcept { \
    return ::gt::program_runs() ? ::gt::interpose::real_pthread_create(thread, attr, start, arg)  \
                                : ::gt::interpose::create_muted_thread(thread, attr, start, arg); \
  }
