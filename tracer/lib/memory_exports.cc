// The allocator's, the dynamic linker's and the exec family's symbols that the program links to, and the start of
// recording.
#include "tracer/interpose/doors.h"
#include "tracer/interpose/exec_hooks.h"
#include "tracer/interpose/libc_alloc.h"
#include "tracer/interpose/memory_epoch.h"
#include "tracer/interpose/threads.h"
#include "tracer/lib/children.h"
#include "tracer/lib/memory_client.h"
#include "tracer/lib/own_functions.h"

GT_DEFINE_ALLOC_HOOKS(gt::tracer::MemoryClient)
GT_DEFINE_DOORS()
GT_DEFINE_THREAD_HOOKS()
GT_DEFINE_EXEC_HOOKS()

// What a library leaves behind may be pointed at, and is gone (readable.h).
extern "C" __attribute__((visibility("default"))) int dlclose(void* library) noexcept {
  using Dlclose = int (*)(void*);
  static std::atomic<Dlclose> real{nullptr};
  Dlclose close = real.load(std::memory_order_acquire);
  if (!close) real.store(close = reinterpret_cast<Dlclose>(gt::interpose::next_symbol("dlclose")));
  const int result = close ? close(library) : -1;
  gt::interpose::begin_memory_epoch();
  return result;
}

__attribute__((constructor)) static void begin() {
  gt::tracer::start_recording();
  gt::tracer::follow_children();
  gt::tracer::patch_own_functions();
}
