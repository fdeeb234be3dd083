// The recorder's view of memory calls: it serves none of them and writes a record of each.
//
// Cost: a block that is made or given back, 8 bytes in the ring (block_words.h); other calls, 32 to 80 bytes and often
// a reading of the clock; a walk of the stack for large blocks only (frames.h).
// Thread safety: any thread, each into its own ring; what a signal handler does that interrupts one is not recorded.
#pragma once

#include <concepts>

#include "tracer/interpose/alloc_hooks.h"
#include "tracer/lib/block_recorder.h"
#include "tracer/lib/memory_ticks.h"
#include "tracer/lib/readable.h"
#include "tracer/lib/recorder.h"

namespace gt::tracer {

// The injected library itself, as the linker lays it out: what its own code allocates is not the
// program's.
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start[];
extern "C" __attribute__((visibility("hidden"))) const char _end[];

// The calling thread's ring was given back, and it has no other (recorder.cc).
bool ring_is_over();

struct MemoryClient {
  using Fn = interpose::AllocFn;
  static void* allocate(Fn, size_t, size_t, const void*) { return nullptr; }
  static bool owns(const void*) { return false; }
  static void release(void*) {}
  static size_t usable_size(const void*) { return 0; }

  static void returned(Fn fn, const void* site, const void* made, size_t bytes, auto... args) {
    if (!wanted(site)) return;
    const bool large = made && is_large(bytes);
    if (__builtin_expect(large, 0)) record_frames(site);
    if constexpr (sizeof...(args) == 2) {  // the size and the block
      const bool block = !large && block_tag(fn) == BlockTag::Made;
      if (block && record_block(BlockTag::Made, fn, word(site), word(made), bytes)) return;
    }
    if constexpr (sizeof...(args) == MappingWords) {
      record_mapping(fn, site, {word(args)...});
    } else {
      write(RecordType::Allocate, fn, word(site), word(args)...);
    }
  }
  static void releasing(Fn fn, const void* site, const void* p, auto... args) {
    if (p) forget_block(p);
    if (!wanted(site)) return;
    // What libc cleans up when a thread has ended must not give the thread another life.
    if (__builtin_expect(!p, 0) && ring_is_over()) return;
    if constexpr (sizeof...(args) <= 1) {
      const BlockTag tag = block_tag(fn);
      if (tag != BlockTag::None && record_block(tag, fn, word(site), word(p), args...)) return;
    }
    write(RecordType::Release, fn, word(site), word(p), word(args)...);
  }
  static void entered(Fn fn, const void* site, size_t bytes, auto... args) {
    forget(fn, args...);
    if (!wanted(site)) return;
    if (__builtin_expect(is_large(bytes), 0)) record_frames(site);
    write(RecordType::Release, fn, word(site), word(args)...);
  }
  static void left(Fn fn, const void* site, const void*, size_t, auto result) {
    if (wanted(site)) write(RecordType::Returned, fn, word(result));
  }

 private:
  static constexpr size_t MappingWords = 7;  // mmap's parameters and its result

  static bool wanted(const void* site) {
    return recording_memory() && __builtin_expect(site < __ehdr_start || site >= _end, 1);
  }
  // What munmap, mremap or realloc gives back may not be read any more (readable.h).
  static void forget(Fn fn, const void* p, size_t size, auto...) {
    if (fn == Fn::Munmap || fn == Fn::Mremap) return forget_pages(p, size);
    if (p) forget_block(p);
  }
  static bool is_large(size_t bytes) {
    const uint64_t least = spool()->stack_bytes;
    return least != 0 && bytes >= least;
  }

  static uint64_t word(const void* p) { return reinterpret_cast<uint64_t>(p); }
  template <std::integral T>
  static uint64_t word(T v) {
    return static_cast<uint64_t>(v);
  }

  template <class... Words>
  static void write(RecordType type, Fn fn, Words... words) {
    Ring* ring = this_ring();
    if (!ring) return;
    fetch_ahead(*ring);
    record(type, static_cast<uint16_t>(fn), memory_ticks(*ring), words...);
    ring->clock.position = ring->position;
  }

  // What the memory call that comes next was called from.
  static void record_frames(const void* site);
  // With the path of the mapped file, if it is one.
  static void record_mapping(Fn fn, const void* site, const uint64_t (&words)[MappingWords]);
};

}  // namespace gt::tracer
