// A thread's end of its ring: the recorder's state. Thread safety: a thread's own.
#pragma once

#include <atomic>
#include <cstdint>

#include "tracer/lib/spool.h"

namespace gt::tracer {

// The ticks of a thread's memory calls (memory_ticks.h).
struct MemoryClock {
  static constexpr uint32_t ReadEvery = 64;
  uint64_t last = 0;      // ticks of the last memory call
  uint64_t position = 0;  // of the ring behind it: another one means that something else was recorded meanwhile
  uint32_t left = 0;      // calls that may count on from there; 0: the next one reads the clock
};

// When a thread tries to record alone (solitude.h). Counted in its readings of the clock for memory calls.
struct Solitude {
  static constexpr uint32_t FirstWait = 64;
  uint32_t wait = FirstWait, left = FirstWait;
  uint64_t since = 0;  // ticks; 0: it is not alone, as far as it knows
};

// A thread's end of its ring. Invariant: position <= limit; limit - ring_bytes is a tail that the
// collector published, or where the segment begins.
struct Ring {
  RingHeader* header = nullptr;
  uint8_t* data = nullptr;          // of the ring, or of the segment in which it goes on now
  SegmentLink* next = nullptr;      // of the same
  uint64_t segment_start = 0;       // positions from here on lie in it
  uint64_t mask = 0;      // ring_bytes - 1
  uint64_t position = 0;  // our copy of header->head
  uint64_t limit = 0;     // we may write below this without looking at header->tail
  uint64_t calls = 0;     // Enter records written: sequence number of the next OpenCL call
  uint32_t index = 0;     // of the ring in the spool
  bool busy = false;      // a record is under way: a signal handler must not begin another
  MemoryClock clock;
  Solitude solitude;
  // The Repeat record that is the last thing in the ring; no period: there is none.
  struct {
    std::atomic<uint64_t>* calls = nullptr;
    const uint64_t* words = nullptr;
    uint32_t period = 0, next = 0;  // next: of its words
    uint64_t position = 0;          // of the ring behind it
  } repeat;
};

}  // namespace gt::tracer
