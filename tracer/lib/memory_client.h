// The recorder's view of memory calls: it serves none of them and writes a record of each.
//
// Cost: one tick and 32 to 48 bytes in the ring.
#pragma once

#include "tracer/interpose/alloc_hooks.h"
#include "tracer/lib/memory_ticks.h"
#include "tracer/lib/recorder.h"

namespace gt::tracer {

// The injected library itself, as the linker lays it out: what its own code allocates is not the
// program's.
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start[];
extern "C" __attribute__((visibility("hidden"))) const char _end[];

struct MemoryClient {
  using Fn = interpose::AllocFn;
  static void* allocate(Fn, size_t, size_t, const void*) { return nullptr; }
  static bool owns(const void*) { return false; }
  static void release(void*) {}
  static size_t usable_size(const void*) { return 0; }

  static void allocated(Fn fn, void* p, size_t size, size_t align, const void* site) {
    if (!recording_memory()) return;
    if (align) {
      write(RecordType::Allocate, fn, site, p, size, align);
    } else {
      write(RecordType::Allocate, fn, site, p, size);
    }
  }
  static void resized(Fn fn, void* p, void* old, size_t size, const void* site) {
    if (recording_memory())
      write(RecordType::Resize, fn, site, p, size, reinterpret_cast<uint64_t>(old));
  }
  static void releasing(Fn fn, void* p, size_t size, const void* site) {
    if (!recording_memory()) return;
    if (size) {
      write(RecordType::Release, fn, site, p, size);
    } else {
      write(RecordType::Release, fn, site, p);
    }
  }

 private:
  template <class... Words>
  static void write(RecordType type, Fn fn, const void* site, const void* p, Words... words) {
    if (__builtin_expect(site >= __ehdr_start && site < _end, 0)) return;
    Ring* ring = this_ring();
    if (!ring) return;
    fetch_ahead(*ring);
    record(type, static_cast<uint16_t>(fn), memory_ticks(*ring, type != RecordType::Allocate),
           reinterpret_cast<uint64_t>(site), reinterpret_cast<uint64_t>(p), words...);
    t_memory_clock.position = ring->position;
  }
};

}  // namespace gt::tracer
