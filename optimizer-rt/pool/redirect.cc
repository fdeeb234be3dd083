// The allocation hooks of the injected optimizer: planned allocations come from the pools, all
// others from libc.
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>

#include "optimizer-rt/pool/heap_room.h"
#include "optimizer-rt/pool/huge_pages.h"
#include "optimizer-rt/pool/kept_blocks.h"
#include "optimizer-rt/pool/libc_entries.h"
#include "optimizer-rt/pool/program_pages.h"
#include "optimizer-rt/pool/reused_blocks.h"
#include "optimizer-rt/pool/runtime.h"
#include "optimizer-rt/pool/static_data.h"
#include "optimizer-rt/pool/system_memory.h"
#include "tracer/interpose/alloc_hooks.h"
#include "tracer/interpose/entry_paths.h"
#include "traces/base/clock.h"

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
  huge_pages.changed(at, bytes);
}

bool is_large(size_t bytes) { return reused_blocks.is_large(bytes) || huge_pages.wants(bytes); }

// calloc's memory is zero, and realloc's has contents.
constexpr bool takes_kept(AllocFn fn) {
  return fn != AllocFn::Calloc && fn != AllocFn::Realloc && fn != AllocFn::Reallocarray;
}

void* take_kept(AllocFn fn, size_t size, size_t align) {
  void* const block = takes_kept(fn) ? kept_blocks.take(size, align) : nullptr;
  if (block) huge_pages.remember(block, size);
  return block;
}

// That it is libc's, and as large, libc itself must say: what is known of it may be of another block, whose free was
// not seen. Nor is kept what nobody will give back in time.
__attribute__((noinline, cold)) bool keep_block(void* p) {
  const size_t bytes = huge_pages.bytes_of(p);
  const uint64_t now = monotonic_ns();
  if (bytes == 0 || !kept_blocks.freed(bytes, now) || interpose::libc.usable_size(p) < bytes) return false;
  huge_pages.gone(p);
  if (!watch_hook || !kept_blocks.keep(p, bytes, now)) return false;
  if (!watch_hook()) kept_blocks.give_back(KeptBlocks::Always);  // afterwards: a thread that is about to end sees it
  return true;
}

// What realloc gives may be moved again by the kernel, as one mapping.
void note_fresh(AllocFn fn, const void* made, size_t bytes) {
  if (!huge_pages.wants(bytes) || fn == AllocFn::Realloc || fn == AllocFn::Reallocarray) return;
  if (kept_blocks.any() && huge_pages.is_short()) kept_blocks.give_back(KeptBlocks::Always);
  if (!huge_pages.made(made, bytes)) return;
  if (takes_kept(fn)) kept_blocks.made(bytes, monotonic_ns());
  if (watch_hook) watch_hook();
}

// Once, before there is a large block: what the C library allocates for a thread, and keeps, would lie behind one at
// the end of its heap, which then could not be given back to the system.
__attribute__((noinline, cold)) void begin_watching() {
  static constinit std::atomic<bool> begun{false};
  if (!watch_hook || begun.exchange(true)) return;
  const int saved_errno = errno;
  watch_hook();
  errno = saved_errno;
}

__attribute__((noinline, cold)) void note_large(AllocFn fn, const void* made, size_t bytes) {
  const int saved_errno = errno;
  if (makes_mapping(fn)) mapping_changed(made, bytes);
  if (makes_block(fn) && !runtime.owns(made) && !interpose::boot_owns(made)) {
    if (reused_blocks.is_large(bytes)) reused_blocks.remember(made, bytes);
    note_fresh(fn, made, bytes);
  }
  errno = saved_errno;
}

// A pin may go at once when the program's own code gives the memory back; else at the next call of the program's.
__attribute__((noinline, cold)) void unpin_dropped(bool program) {
  const int saved_errno = errno;
  if (program && unpins_at_release.load(std::memory_order_acquire)) reused_blocks.settle(unpin_hook);
  errno = saved_errno;
}

struct PoolClient {
  static void* allocate(AllocFn fn, size_t size, size_t align, const void* site) {
    if (__builtin_expect(!huge_pages.wants(size), 1)) return runtime.allocate(size, align, site);
    begin_watching();
    void* const ours = runtime.allocate(size, align, site);
    return ours ? ours : take_kept(fn, size, align);
  }
  // libc's fresh memory is not touched for that, nor is ours.
  static void* allocate_zero(size_t size, const void* site) {
    if (__builtin_expect(huge_pages.wants(size), 0)) begin_watching();
    bool zero = false;
    void* const p = runtime.allocate(size, 0, site, &zero);
    return p && !zero ? std::memset(p, 0, size) : p;
  }
  static bool ignores(size_t size) { return runtime.ignores(size) && !is_large(size); }
  static bool ignores(size_t size, const void* site) { return runtime.ignores(size, site) && !is_large(size); }
  static bool ignores(const void* p) {
    return !runtime.owns(p) && !reused_blocks.may_know(p) && !huge_pages.may_know(p);
  }
  static bool owns(const void* p) { return runtime.owns(p); }
  static void release(void* p) { runtime.release(p); }
  static size_t usable_size(const void* p) { return runtime.pool_of(p)->usable_size(p); }
  static void returned(AllocFn fn, const void*, const void* made, size_t bytes, auto...) {
    if (made && (is_large(bytes) || makes_mapping(fn))) note_large(fn, made, bytes);
  }
  static void replacing(void* at, size_t bytes, bool program) { pages_change(at, bytes, program); }
  static void replaced(void* at, size_t bytes) { pages_replaced(at, bytes); }
  static bool unmaps(void* at, size_t bytes, bool program, int* result) {
    return unmap_pages(at, bytes, program, result);
  }
  static bool remaps(void* old, size_t old_bytes, size_t bytes, int flags, void* to, bool program, void** result) {
    return remap_pages(old, old_bytes, bytes, flags, to, program, result);
  }
  static bool keeps(void* p) {
    if (!huge_pages.may_know(p)) return false;
    if (reused_blocks.leaving(p)) unpin_dropped(true);
    return keep_block(p);
  }
  static void leaving(const void* p, bool program) {
    if (huge_pages.may_know(p)) huge_pages.gone(p);
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
    if (made && is_large(bytes)) note_large(fn, made, bytes);
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

// Calls act(program): by the program's own code or not.
template <class Act>
int by_whom(Act act) {
  if (!program_runs()) return act(false);
  const interpose::Quiet quiet;
  return act(true);
}

// Whoever is next: programs have others stand before this one, too.
std::atomic<int (*)(int, unsigned long, void*)> g_ioctl{nullptr};

// A thread of the program's will bring the pages of a range, or wants to hear of writes to them.
void range_is_served(const void* argument) {
  const auto& range = static_cast<const uffdio_register*>(argument)->range;
  by_whom([&](bool program) {
    pages_change(reinterpret_cast<const void*>(range.start), range.len, program);
    return 0;
  });
}

// A userfaultfd: the program is to see each fault.
void faults_are_the_programs() {
  huge_pages.close();
  heap_room.close();
}

__attribute__((constructor)) void open_runtime() {
  g_ioctl.store(reinterpret_cast<int (*)(int, unsigned long, void*)>(interpose::next_symbol("ioctl")));
  runtime.open();
  if (huge_pages.is_open()) {
    Counters& c = runtime.counters();
    kept_blocks.open(&huge_pages, [](void* p) { interpose::libc.free(p); }, &c.kept_blocks, &c.kept_bytes);
  }
  const bool must_see_frees = runtime.serves() || reused_blocks.is_open() || runtime.asks();
  if (!must_see_frees || guard_libc_entries(leaves_by_entry)) return;
  interpose::before_deep_binding = [] { runtime.stop_for_deep_binding(); };
}

}  // namespace
}  // namespace gt::opt

GT_DEFINE_ALLOC_HOOKS(gt::opt::PoolClient)
GT_DEFINE_ENTRY_PATHS()

extern "C" {
GT_EXPORT int ioctl(int file, unsigned long request, ...) noexcept {
  va_list more;
  va_start(more, request);
  void* const argument = va_arg(more, void*);
  va_end(more);
  const auto real = gt::opt::g_ioctl.load(std::memory_order_relaxed);
  const int result = __builtin_expect(real != nullptr, 1)
                         ? real(file, request, argument)
                         : static_cast<int>(::syscall(SYS_ioctl, file, request, argument));
  if (__builtin_expect(request == UFFDIO_API, 0)) gt::opt::faults_are_the_programs();
  if (__builtin_expect(request == UFFDIO_REGISTER, 0) && result == 0) gt::opt::range_is_served(argument);
  return result;
}
GT_EXPORT int madvise(void* at, size_t bytes, int advice) noexcept {
  return gt::opt::by_whom([=](bool program) { return gt::opt::advise_pages(at, bytes, advice, program); });
}
GT_EXPORT int mprotect(void* at, size_t bytes, int protection) noexcept {
  return ::pkey_mprotect(at, bytes, protection, gt::opt::NoKey);
}
GT_EXPORT int pkey_mprotect(void* at, size_t bytes, int protection, int key) noexcept {
  return gt::opt::by_whom([=](bool program) { return gt::opt::protect_pages(at, bytes, protection, key, program); });
}
}
