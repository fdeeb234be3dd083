// A ring of records in memory shared with the peer, one way: one side produces, the other consumes.
//
//   record: u32 bytes, u32 kind, then the bytes; records follow each other without gaps and may wrap around
//
// Distrust: each side keeps its own position in private memory and only shows it; the other's position is read once,
// checked against the capacity, and a wrong one ends the link. Headers are copied out before they are checked, so a
// peer that scribbles on the ring gives damaged records, never an access outside of it.
// A bell is how one side makes a thread of the other look: a futex in the shared memory. `asleep` says which of the
// threads that sleep on it (bits) are to be woken. Waits are bounded, so a peer that spoils it only costs time.
// Thread safety: a writer or reader by one thread at a time; a bell by any.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "traces/base/bytes.h"
#include "traces/base/status.h"
#include "transport/link/base/seen_order.h"

namespace gt::wire {

// In shared memory.
struct Bell {
  std::atomic<uint32_t> rung{0};    // a futex
  std::atomic<uint32_t> asleep{0};  // bits: whom to wake
};
struct RingShown {
  alignas(64) std::atomic<uint64_t> tail{0};  // bytes produced
  alignas(64) std::atomic<uint64_t> head{0};  // bytes consumed
  std::atomic<uint32_t> tell{0};  // set by the producer: ring its bell when head moves
};

constexpr uint32_t EveryBit = ~uint32_t{0};
// Wakes whom the bell names.
void ring_bell(Bell& bell);
// The same, but wakes those with one of `bits`.
void ring_bell(Bell& bell, uint32_t bits);
// Sleeps until it is rung after `seen` was read from it for one of `bits`, or some time.
void sleep_on(Bell& bell, uint32_t bits, uint32_t seen, uint64_t most_ns);

struct RecordHeader {
  uint32_t bytes = 0;
  uint32_t kind = 0;
};

class RingWriter {
 public:
  RingWriter(RingShown& shown, uint8_t* data, size_t capacity)
      : shown_(shown), data_(data), capacity_(capacity) {}

  // Room for a record of so many bytes. Errors: the peer's position is wrong.
  Result<bool> has_room(size_t bytes);
  // REQUIRES: has_room(). Made of the parts; not seen before show().
  void put(uint32_t kind, std::span<const ByteView> parts);
  void show() {
    order_before_sending();
    shown_.tail.store(tail_, std::memory_order_seq_cst);
  }
  // Asks for the bell when the peer consumes; look again afterwards.
  void ask() { shown_.tell.store(1, std::memory_order_seq_cst); }

  uint64_t tail() const { return tail_; }
  // How far the peer is. Errors: that cannot be.
  Result<uint64_t> consumed();

 private:
  void copy_in(const void* from, size_t bytes);

  RingShown& shown_;
  uint8_t* const data_;
  const size_t capacity_;
  uint64_t tail_ = 0, head_ = 0;
};

class RingReader {
 public:
  RingReader(RingShown& shown, const uint8_t* data, size_t capacity)
      : shown_(shown), data_(data), capacity_(capacity) {}

  // Bytes that wait. Errors: the peer's position is wrong.
  Result<size_t> waiting();
  // The next header; nothing: there is no record. Errors: damaged.
  Result<bool> next(RecordHeader& header);
  // Of the record's bytes, in order. REQUIRES: not more than it has.
  void copy_out(void* to, size_t bytes);
  // The record is done with: its place is free. True: the producer wants its bell.
  bool done(const RecordHeader& header);
  bool seems_empty() const { return shown_.tail.load(std::memory_order_seq_cst) == head_; }

 private:
  RingShown& shown_;
  const uint8_t* const data_;
  const size_t capacity_;
  uint64_t head_ = 0, at_ = 0;  // consumed; read
};

}  // namespace gt::wire
