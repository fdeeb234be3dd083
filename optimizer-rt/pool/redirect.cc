// The allocation hooks of the injected optimizer: planned allocations come from the pools, all
// others from libc.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "optimizer-rt/pool/libc_entries.h"
#include "optimizer-rt/pool/reused_blocks.h"
#include "optimizer-rt/pool/runtime.h"
#include "optimizer-rt/pool/static_data.h"
#include "tracer/interpose/alloc_hooks.h"
#include "tracer/interpose/doors.h"

namespace gt::opt {
namespace {

using interpose::AllocFn;

constexpr bool makes_mapping(AllocFn fn) { return fn == AllocFn::Mmap || fn == AllocFn::Mmap64; }
constexpr bool makes_block(AllocFn fn) {
  switch (fn) {
    case AllocFn::Malloc:
    case AllocFn::Calloc:
    case AllocFn::Realloc:
    case AllocFn::Reallocarray:
    case AllocFn::Memalign:
    case AllocFn::AlignedAlloc:
    case AllocFn::PosixMemalign:
    case AllocFn::Valloc:
    case AllocFn::Pvalloc:
      return true;
    default:
      return fn >= AllocFn::New && fn <= AllocFn::NewArrayAlignedNothrow;
  }
}

// Pages come and go as a whole.
size_t whole_pages(size_t bytes) {
  const size_t page = interpose::page_bytes();
  return bytes > SIZE_MAX - page ? bytes : (bytes + page - 1) & ~(page - 1);
}

void mapping_changed(const void* at, size_t bytes) {
  reused_blocks.changed(at, whole_pages(bytes));
  static_data.changed(at, whole_pages(bytes));
}

__attribute__((noinline, cold)) void note_large(AllocFn fn, const void* made, size_t bytes) {
  const int saved_errno = errno;
  if (makes_mapping(fn)) mapping_changed(made, bytes);
  if (makes_block(fn) && !runtime.owns(made) && !interpose::boot_owns(made)) reused_blocks.remember(made, bytes);
  errno = saved_errno;
}

// A pin may go at once when the program's own code gives the memory back; else at the next call of the program's.
__attribute__((noinline, cold)) void unpin_dropped(bool program) {
  const int saved_errno = errno;
  if (program && unpins_at_release.load(std::memory_order_acquire)) reused_blocks.settle(unpin_hook);
  errno = saved_errno;
}

struct PoolClient {
  static void* allocate(interpose::AllocFn, size_t size, size_t align, const void* site) {
    return runtime.allocate(size, align, site);
  }
  static bool ignores(size_t size) { return runtime.ignores(size) && !reused_blocks.is_large(size); }
  static bool ignores(size_t size, const void* site) {
    return runtime.ignores(size, site) && !reused_blocks.is_large(size);
  }
  static bool ignores(const void* p) { return !runtime.owns(p) && !reused_blocks.may_know(p); }
  static bool owns(const void* p) { return runtime.owns(p); }
  static void release(void* p) { runtime.release(p); }
  static size_t usable_size(const void* p) { return runtime.pool_of(p)->usable_size(p); }
  static void returned(AllocFn fn, const void*, const void* made, size_t bytes, auto...) {
    if (made && (reused_blocks.is_large(bytes) || makes_mapping(fn))) note_large(fn, made, bytes);
  }
  static void leaving(const void* p, bool program) {
    if (reused_blocks.leaving(p)) unpin_dropped(program);
  }
  static void releasing(interpose::AllocFn, const void*, const void* p, auto...) {
    if (runtime.owns(p)) t_may_unpin = true;
  }
  static void entered(AllocFn, const void*, size_t, void*, auto...) {}  // what realloc takes is leaving()
  static void entered(AllocFn fn, const void*, size_t, void* at, size_t bytes) {
    if (fn == AllocFn::Munmap) gone(at, bytes);
  }
  static void entered(AllocFn, const void*, size_t, void* old, size_t old_bytes, size_t bytes, int flags, void* to) {
    gone(old, old_bytes);
    if (flags & MREMAP_FIXED) gone(to, bytes);
  }
  static void left(AllocFn fn, const void*, const void* made, size_t bytes, auto...) {
    if (made && reused_blocks.is_large(bytes)) note_large(fn, made, bytes);
  }
  static void gone(const void* at, size_t bytes) {
    mapping_changed(at, bytes);
    if (!reused_blocks.is_settled()) unpin_dropped(true);
  }
};

// libc's memory, by an entry of libc's.
void leaves_by_entry(void* p) {
  if (!program_runs()) return PoolClient::leaving(p, false);
  const interpose::Quiet quiet;
  PoolClient::leaving(p, true);
}

__attribute__((constructor)) void open_runtime() {
  runtime.open();
  const bool must_see_frees = runtime.serves() || reused_blocks.is_open() || runtime.asks();
  if (!must_see_frees || guard_libc_entries(leaves_by_entry)) return;
  interpose::before_deep_binding = [] { runtime.stop_for_deep_binding(); };
}

constexpr int DontNeedLocked = 24;  // MADV_DONTNEED_LOCKED, of newer headers

constexpr bool takes_pages_away(int advice) {
  return advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_REMOVE || advice == DontNeedLocked;
}

}  // namespace
}  // namespace gt::opt

GT_DEFINE_ALLOC_HOOKS(gt::opt::PoolClient)
GT_DEFINE_DOORS()

// Pages that are given back while they are pinned would be other pages than the driver's afterwards.
extern "C" GT_EXPORT int madvise(void* at, size_t bytes, int advice) noexcept {
  if (gt::opt::takes_pages_away(advice)) gt::opt::reused_blocks.changed(at, gt::opt::whole_pages(bytes));
  return static_cast<int>(::syscall(SYS_madvise, at, bytes, advice));
}
