// The recorder's view of memory calls: it serves none of them and writes a record of each, or counts it
// (call_counter.h).
//
// Cost: a block that is made or given back, 8 bytes in the ring (block_words.h); other calls, 32 to 80 bytes and often
// a reading of the clock; a walk of the stack for large blocks only (frames.h).
// Thread safety: any thread, each into its own ring; what a signal handler does that interrupts one is not recorded.
#pragma once

#include <concepts>
#include <type_traits>

#include "tracer/interpose/alloc_hooks.h"
#include "tracer/lib/block_recorder.h"
#include "tracer/lib/call_counter.h"
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

  // Small, to be inlined: what is only counted passes through nothing else.
  static void returned(Fn fn, const void* site, const void* made, size_t bytes, auto... args) {
    if (!wanted(site)) return;
    if constexpr (sizeof...(args) != MappingWords) {
      if (listed_from() != 0 && counts(fn, site, made, bytes, args...)) return;
    }
    record_made(fn, site, made, bytes, args...);
  }
  static void releasing(Fn fn, const void* site, const void* p, auto... args) {
    if (p) forget_block(p);
    if (!wanted(site)) return;
    // What libc cleans up when a thread has ended must not give the thread another life.
    if (__builtin_expect(!p, 0) && ring_is_over()) return;
    if (listed_from() != 0 && counts_given(static_cast<uint16_t>(fn), word(site), p)) return;
    record_release(fn, site, p, args...);
  }
  static void entered(Fn fn, const void* site, size_t bytes, auto... args) {
    forget(fn, args...);
    if (!wanted(site)) return;
    if constexpr (sizeof...(args) <= ResizedBlock::MostWords) {
      if (resizes(fn) && held_back(bytes, args...)) return;
    }
    if (__builtin_expect(is_large(bytes), 0)) record_frames(site);
    write(RecordType::Release, fn, word(site), word(args)...);
  }
  static void left(Fn fn, const void* site, const void* made, size_t bytes, auto result) {
    if (!wanted(site)) return;
    if (resizes(fn) && t_resized.held_back()) {
      if (t_resized.is_counted(static_cast<uint16_t>(fn), word(site), made, bytes)) return;
      const uint64_t* const w = t_resized.words();
      fn == Fn::Realloc ? write(RecordType::Release, fn, word(site), w[0], w[1])
                        : write(RecordType::Release, fn, word(site), w[0], w[1], w[2]);
    }
    write(RecordType::Returned, fn, word(result));
    if (resizes(fn) && t_resized.leaves_list(made)) write(RecordType::LeftList, fn, word(made));
  }

 private:
  static constexpr size_t MappingWords = 7;  // mmap's parameters and its result

  __attribute__((noinline)) static void record_made(Fn fn, const void* site, const void* made, size_t bytes,
                                                    auto... args) {
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
  __attribute__((noinline)) static void record_release(Fn fn, const void* site, const void* p, auto... args) {
    if constexpr (sizeof...(args) <= 1) {
      const BlockTag tag = block_tag(fn);
      if (tag != BlockTag::None && record_block(tag, fn, word(site), word(p), args...)) return;
    }
    write(RecordType::Release, fn, word(site), word(p), word(args)...);
  }

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

  static bool resizes(Fn fn) { return fn == Fn::Realloc || fn == Fn::Reallocarray; }
  // What malloc has of the program's memory, mmap and the break have not.
  static bool counts(Fn fn, const void* site, const void* made, size_t bytes, auto first, auto...) {
    const auto number = static_cast<uint16_t>(fn);
    if (fn == Fn::Brk || fn == Fn::Sbrk) return false;
    if constexpr (std::is_pointer_v<decltype(first)>) {
      if (fn == Fn::MallocUsableSize) return counts_given(number, word(site), first);
    }
    // No allocator gives twice as much as was asked for without alignment, but for whole pages: then the block is
    // counted here, and what gives it back is a release of memory that nobody asked for.
    if (block_tag(fn) == BlockTag::Made && bytes <= listed_from() / 2) return counts_small(number, word(site), bytes);
    return counts_made(number, word(site), word(made), bytes);
  }
  // `args`: of realloc or reallocarray.
  static bool held_back(size_t bytes, const void* old, auto... args) {
    const uint64_t words[] = {word(old), word(args)...};
    return t_resized.holds_back(old, bytes, words);
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
