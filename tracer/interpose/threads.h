// Threads have places in a family tree, and those that the driver starts are the driver's: their memory calls are not
// the program's.
//
// GT_DEFINE_THREAD_HOOKS() expands to the exported pthread_create, thrd_create, their joins and pthread_detach. Every
// thread that they start begins with its path (thread_path.h). A thread that is created while its creator is inside a
// wrapped call, or by a muted thread, begins with t_flags.muted set and keeps it.
// (docs/decisions/0001-wrap-pthread-create.md)
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
// The C library's, which free the thread slot of a joined thread (thread_slots.h).
int join_thread(pthread_t thread, void** result);
int try_join_thread(pthread_t thread, void** result);
int join_thread_until(pthread_t thread, void** result, const timespec* until);
int join_c11_thread(thrd_t thread, int* result);
int detach_thread(pthread_t thread);

}  // namespace gt::interpose

#pragma GCC visibility pop

#define GT_THREAD_HOOK(RESULT, NAME) extern "C" __attribute__((visibility("default"))) RESULT NAME

#define GT_DEFINE_THREAD_HOOKS()                                                                                      \
  GT_THREAD_HOOK(int, pthread_create)(pthread_t * thread, const pthread_attr_t* attr, void* (*start)(void*),          \
                                      void* arg) noexcept {                                                           \
    return ::gt::interpose::create_thread(thread, attr, start, arg);                                                  \
  }                                                                                                                   \
  GT_THREAD_HOOK(int, thrd_create)(thrd_t * thread, int (*start)(void*), void* arg) {                                 \
    return ::gt::interpose::create_c11_thread(thread, start, arg);                                                    \
  }                                                                                                                   \
  GT_THREAD_HOOK(int, pthread_join)(pthread_t thread, void** result) {                                                \
    return ::gt::interpose::join_thread(thread, result);                                                              \
  }                                                                                                                   \
  GT_THREAD_HOOK(int, pthread_tryjoin_np)(pthread_t thread, void** result) noexcept {                                 \
    return ::gt::interpose::try_join_thread(thread, result);                                                          \
  }                                                                                                                   \
  GT_THREAD_HOOK(int, pthread_timedjoin_np)(pthread_t thread, void** result, const struct timespec* until) {          \
    return ::gt::interpose::join_thread_until(thread, result, until);                                                 \
  }                                                                                                                   \
  GT_THREAD_HOOK(int, thrd_join)(thrd_t thread, int* result) {                                                        \
    return ::gt::interpose::join_c11_thread(thread, result);                                                          \
  }                                                                                                                   \
  GT_THREAD_HOOK(int, pthread_detach)(pthread_t thread) noexcept { return ::gt::interpose::detach_thread(thread); }
