// May we read what the program points at?
//
// Inputs are recorded before the driver is entered. A driver that refuses a call may never look at its pointers, so a
// bad one that is harmless in a bare run must be harmless here. Pages found readable are remembered, for all threads;
// a page that is asked about for the first time costs one system call that reads from it and fails (EFAULT) instead
// of faulting. It is asked about again when memory may have gone since: when the program has unmapped it or freed the
// large block around it, and all pages are when a thread has ended or was joined, a library was closed, or the heap has
// shrunk.
// Thread safety: any thread, signal handlers; no lock. Cost: three loads and two comparisons for each page.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/interpose/memory_epoch.h"

extern "C" [[gnu::weak]] char* __curbrk;  // glibc: the end of the heap

namespace gt::tracer {

namespace detail {

constexpr uintptr_t PageShift = 12;
constexpr size_t KnownPages = 1024;
constexpr uintptr_t NoPage = ~uintptr_t{0};
// What is remembered of a page: its number and the epoch (the lowest bits of its number) in which it was readable.
// Page 0 of epoch 0, which is never readable, or NoPage: nothing.
constexpr unsigned EpochBits = 19;  // an address has 57 bits at most
extern std::atomic<uintptr_t> g_known_pages[KnownPages];
extern std::atomic<uintptr_t> g_heap_end;  // when last looked at
bool ask_page(uintptr_t page) noexcept;    // asks the kernel: one system call
bool probe_page(uintptr_t page) noexcept;  // the same, and remembers a yes
void note_heap_end(uintptr_t end) noexcept;

inline uintptr_t in_this_epoch(uintptr_t page) noexcept {
  const uintptr_t epoch = interpose::g_memory_epoch.load(std::memory_order_acquire);
  return page << EpochBits | (epoch & ((uintptr_t{1} << EpochBits) - 1));
}
inline bool page_readable(uintptr_t page) noexcept {
  if (__builtin_expect(page >> (64 - EpochBits) != 0, 0)) return false;  // no address of a program's
  const auto heap_end = reinterpret_cast<uintptr_t>(&__curbrk ? __curbrk : nullptr);
  if (__builtin_expect(heap_end != g_heap_end.load(std::memory_order_relaxed), 0)) note_heap_end(heap_end);
  const uintptr_t known = g_known_pages[page % KnownPages].load(std::memory_order_relaxed);
  return __builtin_expect(known == in_this_epoch(page), 1) || probe_page(page);
}
bool pages_readable(uintptr_t first, uintptr_t last) noexcept;

}  // namespace detail

// REQUIRES: size > 0. Sources and binaries have megabytes, no argument has as much as MostBytes.
inline bool readable(const void* p, size_t size) noexcept {
  constexpr size_t MostBytes = size_t{1} << 30;
  if (__builtin_expect(size > MostBytes, 0)) return false;
  const auto begin = reinterpret_cast<uintptr_t>(p);
  const uintptr_t first = begin >> detail::PageShift, last = (begin + size - 1) >> detail::PageShift;
  return first == last ? detail::page_readable(first) : detail::pages_readable(first, last);
}

// The length of a text that ends with a NUL; false when it leads to memory that cannot be read.
bool text_length(const char* s, size_t& size) noexcept;

// The program is about to give this memory back.
void forget_pages(const void* p, size_t size) noexcept;

// The same for a block of malloc's. The C library gives large ones pages of their own, 16 bytes behind whose begin the
// block starts, with its size and a flag in the word before it; what another allocator has there at worst costs a
// question that was answered before. REQUIRES: p is a block, not NULL. Cost: a comparison for most.
inline void forget_block(const void* p) noexcept {
  constexpr uintptr_t Header = 16, PageMask = (uintptr_t{1} << detail::PageShift) - 1;
  const auto block = reinterpret_cast<uintptr_t>(p);
  if (__builtin_expect((block & PageMask) != Header, 1)) return;
  constexpr size_t OwnPages = 2, Flags = 7;
  const size_t size = *reinterpret_cast<const size_t*>(block - sizeof(size_t));
  if (size & OwnPages) forget_pages(reinterpret_cast<const void*>(block - Header), size & ~Flags);
}

}  // namespace gt::tracer
