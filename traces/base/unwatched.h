// Our own memory accesses, kept from a program's ThreadSanitizer.
//
// It sees what uninstrumented code does by the functions that it intercepts (memcpy, recv, mmap), but not the atomics
// by which such code orders that, and reports races that are none: thousands in a transfer, each of which takes it
// milliseconds. Locks stay visible: they order the program's own accesses. What a program's callbacks do on a thread
// of ours is hidden, too. In builds of ours with that sanitizer nothing is.
// Thread safety: of the calling thread. Cost without a sanitizer: one load.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define GT_WATCHES_US 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GT_WATCHES_US 1
#endif
#endif

// The runtime's, where the program has one.
extern "C" {
__attribute__((weak)) void AnnotateIgnoreReadsBegin(const char* file, int line);
__attribute__((weak)) void AnnotateIgnoreReadsEnd(const char* file, int line);
__attribute__((weak)) void AnnotateIgnoreWritesBegin(const char* file, int line);
__attribute__((weak)) void AnnotateIgnoreWritesEnd(const char* file, int line);
}

namespace gt {

inline bool is_watched() {
#ifdef GT_WATCHES_US
  return false;
#else
  return __builtin_expect(AnnotateIgnoreReadsBegin && AnnotateIgnoreWritesBegin && AnnotateIgnoreReadsEnd &&
                              AnnotateIgnoreWritesEnd,
                          0);
#endif
}

class Unwatched {
 public:
  Unwatched() {
    if (!is_watched()) return;
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  ~Unwatched() {
    if (!is_watched()) return;
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  }
  Unwatched(const Unwatched&) = delete;
  Unwatched& operator=(const Unwatched&) = delete;
};

}  // namespace gt
