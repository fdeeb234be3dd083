// Calls that are counted instead of recorded (gtrace run --no-memory-detail): a table for each ring, behind the
// segments of the spool. The contract of call_counter.h, which fills it, and tracer/collect, which reads it.
//
// A row is a function, the place that calls it and a size class. As the table is in the file, a program that is killed
// loses no count.
// Invariants: a row's key is written once, after which it keeps its place, until the collector clears the table of a
// ring that nobody owns. A row is at most MostProbes places behind the one that its key asks for; calls that find none
// are `others`.
// Thread safety: the ring's thread writes, the collector reads.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include "tracer/lib/spool.h"
#include "traces/api/alloc_fn.h"

namespace gt::tracer {

struct CallCount {
  std::atomic<uint64_t> key{0};  // 0: nobody's
  std::atomic<uint64_t> calls{0};
  std::atomic<uint64_t> bytes{0};  // asked for, in all

  // One more call. Of the ring's thread.
  void add(uint64_t asked) {
    calls.store(calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    bytes.store(bytes.load(std::memory_order_relaxed) + asked, std::memory_order_relaxed);
  }
};

struct alignas(PageBytes) CallCounts {
  static constexpr unsigned RowBits = 12;
  static constexpr uint32_t Rows = 1u << RowBits, MostProbes = 64;
  CallCount rows[Rows];
  CallCount others;  // without a key
};
static_assert(sizeof(CallCounts) % PageBytes == 0);

// Class 0: no bytes, or a call that asks for none, such as free; class n: from 2^(n-1) on, below 2^n.
constexpr unsigned size_class(uint64_t bytes) { return static_cast<unsigned>(std::bit_width(bytes)); }

// |63   16|15    8|7                0|
// | site  | class | fn - FirstAllocFn|
// Code lies in the lower half of the address space.
constexpr uint64_t count_key(uint16_t fn, uint64_t site, unsigned size_class) {
  return site << 16 | uint64_t{size_class} << 8 | static_cast<uint8_t>(fn - api::FirstAllocFn);
}
static_assert(static_cast<uint16_t>(api::AllocFn::Count) - api::FirstAllocFn < 256);
constexpr uint16_t fn_in(uint64_t key) { return static_cast<uint16_t>(api::FirstAllocFn + (key & 0xff)); }
constexpr unsigned size_class_in(uint64_t key) { return static_cast<unsigned>(key >> 8 & 0xff); }
constexpr uint64_t site_in(uint64_t key) { return key >> 16; }
constexpr uint32_t first_row(uint64_t key) {
  return static_cast<uint32_t>(key * 0x9e3779b97f4a7c15u >> (64 - CallCounts::RowBits));
}

// Where the tables lie; where they end.
constexpr uint64_t spool_counts_offset(const SpoolHeader& spool, uint64_t ring) {
  return spool_bytes(spool.ring_bytes, uint64_t{spool.ring_count} + spool.segment_count) + ring * sizeof(CallCounts);
}

}  // namespace gt::tracer
