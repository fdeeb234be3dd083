// Threads have places in a family tree, and those that the driver starts are the driver's: their memory calls are not
// the program's.
//
// GT_DEFINE_THREAD_HOOKS() expands to the exported pthread_create and thrd_create. Every thread that they start begins
// with its path (thread_path.h). A thread that is created while its creator is inside a wrapped call, or by a muted
// thread, begins with t_flags.muted set and keeps it. (docs/decisions/0001-wrap-pthread-create.md)
// Thread safety: all functions.
#pragma once

#include <pthread.h>
#include <threads.h>

#include "tracer/interpose/thread_path.h"
#include "traces/base/reentry.h"

#pragma GCC visibility push(hidden)

namespace gt::interpose {

using ThreadStart = void* (*)(void*);
using C11ThreadStart = int (*)(void*);

// The C library's functions, the new thread knowing its place; EAGAIN or thrd_error when there are none.
int create_thread(pthread_t* thread, const pthread_attr_t* attr, ThreadStart start, void* arg);
int create_c11_thread(thrd_t* thread, C11ThreadStart start, void* arg);

}  // namespace gt::interpose

#pragma GCC visibility pop

#define GT_DEFINE_THREAD_HOOKS()                                                                                     \
  extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread, const pthread_attr_t* attr, \
                                                                       void* (*start)(void*), void* arg) noexcept {  \
    return ::gt::interpose::create_thread(thread, attr, start, arg);                                                 \
  }                                                                                                                  \
  extern "C" __attribute__((visibility("default"))) int thrd_create(thrd_t* thread, int (*start)(void*), void* arg) { \
    return ::gt::interpose::create_c11_thread(thread, start, arg);                                                   \
  }
