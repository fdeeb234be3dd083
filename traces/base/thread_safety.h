// What a mutex guards and what a function wants held, said so that clang checks it (-Wthread-safety: scripts/lint.sh).
// With GCC these words are nothing. They stand behind a member or behind a function's parameters:
//
//   std::deque<Job> jobs_ GT_GUARDED_BY(mutex_);      read and written with mutex_ held
//   Job* next_ GT_PT_GUARDED_BY(mutex_);              so is what it points to
//   void take_one() GT_REQUIRES(mutex_);              the caller holds mutex_, before and after
//   void close() GT_EXCLUDES(mutex_);                 the caller must not: it is taken here
//   void before_fork() GT_ACQUIRE(mutex_);            held when it returns; GT_RELEASE: no longer held
//   wait(lock, [this]() GT_REQUIRES(mutex_) { ... })  a lambda is a function of its own
//
// Constructors and destructors are not looked at: no other thread may know an object then.
#pragma once

#if defined(__clang__)
#define GT_THREAD_SAFETY(...) __attribute__((__VA_ARGS__))
#else
#define GT_THREAD_SAFETY(...)
#endif

#define GT_CAPABILITY(name) GT_THREAD_SAFETY(capability(name))
#define GT_SCOPED_CAPABILITY GT_THREAD_SAFETY(scoped_lockable)
#define GT_GUARDED_BY(mutex) GT_THREAD_SAFETY(guarded_by(mutex))
#define GT_PT_GUARDED_BY(mutex) GT_THREAD_SAFETY(pt_guarded_by(mutex))
#define GT_REQUIRES(...) GT_THREAD_SAFETY(requires_capability(__VA_ARGS__))
#define GT_EXCLUDES(...) GT_THREAD_SAFETY(locks_excluded(__VA_ARGS__))
#define GT_ACQUIRE(...) GT_THREAD_SAFETY(acquire_capability(__VA_ARGS__))
#define GT_RELEASE(...) GT_THREAD_SAFETY(release_capability(__VA_ARGS__))
#define GT_TRY_ACQUIRE(...) GT_THREAD_SAFETY(try_acquire_capability(__VA_ARGS__))
#define GT_ASSERT_HELD(...) GT_THREAD_SAFETY(assert_capability(__VA_ARGS__))
#define GT_RETURN_CAPABILITY(mutex) GT_THREAD_SAFETY(lock_returned(mutex))

// A function that the analysis cannot follow. Its line says why.
#define GT_NO_THREAD_SAFETY_ANALYSIS GT_THREAD_SAFETY(no_thread_safety_analysis)
