// The clock of the recorder: the CPU's invariant counter, read without a system call.
//
// Ticks are comparable between threads and processes of one machine (invariant TSC, or the ARM
// generic timer); the collector calibrates them against CLOCK_MONOTONIC.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace gt::tracer {

inline uint64_t ticks() {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  uint64_t v;
  asm volatile("mrs %0, cntvct_el0" : "=r"(v));
  return v;
#else
#error "no tick counter known for this processor"
#endif
}

// The same, read only after every earlier load of this thread is done. For records of what a call
// is given: a thread that frees what another has just handed to it must not be stamped before the
// other one's malloc; and for blocks that are made, which another thread may just have freed. Costs a
// few ns.
inline uint64_t ticks_after_loads() {
#if defined(__x86_64__)
  _mm_lfence();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
  return ticks();
}

// Tells the processor that we are waiting for another thread.
inline void relax() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace gt::tracer
