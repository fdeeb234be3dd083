// Tells ThreadSanitizer that what goes through a socket or shared memory is ordered: it does not see that, and both
// ends of a link may be in one process, as they are in tests. Nothing in other builds.
#pragma once

#if defined(__SANITIZE_THREAD__)
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace gt::wire {

#if defined(__SANITIZE_THREAD__)
inline char passage;
inline void order_before_sending() { __tsan_release(&passage); }
inline void order_after_receiving() { __tsan_acquire(&passage); }
#else
inline void order_before_sending() {}
inline void order_after_receiving() {}
#endif

}  // namespace gt::wire
