#include "optimizer-rt/pool/program_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "optimizer-rt/pool/heap_room.h"
#include "optimizer-rt/pool/huge_pages.h"
#include "optimizer-rt/pool/reused_blocks.h"
#include "optimizer-rt/pool/runtime.h"
#include "optimizer-rt/pool/static_data.h"
#include "optimizer-rt/pool/system_memory.h"

namespace gt::opt {
namespace {

constexpr int DontNeedLocked = 24, GuardInstall = 102;  // MADV_*, of newer headers

constexpr bool changes_pages(int advice) {
  return advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_REMOVE || advice == DontNeedLocked ||
         advice == GuardInstall;
}

// Who gives advice or takes pages away knows better.
void leave_pages_to_program(const void* at, size_t bytes) {
  huge_pages.looked_after(at, bytes);
  heap_room.looked_after(at, bytes);
}

size_t whole_pages(size_t bytes) {
  const auto page = static_cast<size_t>(::getpagesize());
  return bytes > SIZE_MAX - page ? bytes : (bytes + page - 1) & ~(page - 1);
}

// Of pins of known blocks, and of a pool's.
void drop_pins(bool program) {
  if (program && unpin_hook && !reused_blocks.is_settled()) reused_blocks.settle(unpin_hook);
}

template <bool Program>
bool let_go(const Extent& extent) {
  if (extent.pin) reused_blocks.retire(extent.pin);
  drop_pins(Program);
  const auto hook = deregister_hook.load(std::memory_order_acquire);
  return Program && (!hook || hook(extent.base, extent.bytes));
}

// The pool that all of the range belongs to.
PinnedPool* pool_of(const void* at, size_t bytes) {
  PinnedPool* const pool = bytes > 0 ? runtime.pool_of(at) : nullptr;
  return pool && pool->owns(static_cast<const char*>(at) + bytes - 1) ? pool : nullptr;
}

}  // namespace

void pages_change(const void* at, size_t bytes, bool program) noexcept {
  const int saved_errno = errno;
  const size_t whole = whole_pages(bytes);
  reused_blocks.changed(at, whole);
  static_data.changed(at, whole);
  leave_pages_to_program(at, whole);
  drop_pins(program);
  if (PinnedPool* const pool = runtime.pool_of(at)) pool->set_aside(at, whole, program ? let_go<true> : let_go<false>);
  errno = saved_errno;
}

void pages_replaced(const void* at, size_t bytes) noexcept {
  const int saved_errno = errno;
  if (PinnedPool* const pool = pool_of(at, bytes)) pool->replaced(at, bytes);
  errno = saved_errno;
}

// What is given back at static data's place is static data still.
int advise_pages(void* at, size_t bytes, int advice, bool program) noexcept {
  PinnedPool* const pool = pool_of(at, bytes);
  leave_pages_to_program(at, whole_pages(bytes));
  if (changes_pages(advice)) {
    const int saved_errno = errno;
    reused_blocks.changed(at, whole_pages(bytes));
    drop_pins(program);
    if (pool && !pool->is_adopted()) pool->set_aside(at, whole_pages(bytes), program ? let_go<true> : let_go<false>);
    errno = saved_errno;
  }
  return pool ? pool->advise(at, bytes, advice) : system_memory.advise(at, bytes, advice);
}

int protect_pages(void* at, size_t bytes, int protection, int key, bool program) noexcept {
  pages_change(at, bytes, program);
  PinnedPool* const pool = pool_of(at, bytes);
  return pool ? pool->protect(at, bytes, protection, key) : system_memory.protect(at, bytes, protection, key);
}

bool unmap_pages(void* at, size_t bytes, bool program, int* result) noexcept {
  PinnedPool* const pool = pool_of(at, bytes);
  if (!pool) return false;
  pages_change(at, bytes, program);
  *result = pool->unmap(at, bytes);
  return true;
}

bool remap_pages(void* at, size_t bytes, size_t new_bytes, int flags, void* to, bool program, void** result) noexcept {
  PinnedPool* const pool = pool_of(at, bytes);
  if (!pool) return false;
  pages_change(at, bytes, program);
  if (flags & MREMAP_FIXED) pages_change(to, new_bytes, program);
  *result = pool->remap(at, bytes, new_bytes, flags, to);
  return true;
}

}  // namespace gt::opt
