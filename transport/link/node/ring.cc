#include "transport/link/node/ring.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>

#include "traces/base/clock.h"

namespace gt::wire {
namespace {

Status spoiled() { return {Kind::Corrupt, "the peer spoiled the shared memory"}; }

// Not FUTEX_PRIVATE: two processes.
void futex(std::atomic<uint32_t>& word, int operation, uint32_t value, const timespec* timeout, uint32_t bits) {
  ::syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), operation, value, timeout, nullptr, bits);
}

}  // namespace

void ring_bell(Bell& bell) {
  bell.rung.fetch_add(1, std::memory_order_seq_cst);
  if (bell.asleep.load(std::memory_order_seq_cst) == 0) return;
  const uint32_t bits = bell.asleep.exchange(0);  // who is being woken need not be woken again
  if (bits == 0) return;
  // Who said so after the bell was rung, and does not sleep yet, is not woken below: another ring keeps it from it.
  bell.rung.fetch_add(1, std::memory_order_seq_cst);
  futex(bell.rung, FUTEX_WAKE_BITSET, INT_MAX, nullptr, bits);
}

void ring_bell(Bell& bell, uint32_t bits) {
  bell.rung.fetch_add(1, std::memory_order_seq_cst);
  futex(bell.rung, FUTEX_WAKE_BITSET, INT_MAX, nullptr, bits);
}

void sleep_on(Bell& bell, uint32_t bits, uint32_t seen, uint64_t most_ns) {
  const uint64_t until = monotonic_ns() + most_ns;
  const timespec at{static_cast<time_t>(until / 1'000'000'000), static_cast<long>(until % 1'000'000'000)};
  futex(bell.rung, FUTEX_WAIT_BITSET, seen, &at, bits);  // returns at once when it was rung since
}

Result<uint64_t> RingWriter::consumed() {
  const uint64_t head = shown_.head.load(std::memory_order_acquire);
  order_after_receiving();
  if (head < head_ || head > tail_) return spoiled();
  head_ = head;
  return head;
}

Result<bool> RingWriter::has_room(size_t bytes) {
  const size_t wanted = bytes + sizeof(RecordHeader);
  if (capacity_ - (tail_ - head_) >= wanted) return true;
  const auto head = consumed();
  if (!head) return head.status();
  return capacity_ - (tail_ - head_) >= wanted;
}

void RingWriter::copy_in(const void* from, size_t bytes) {
  const size_t at = tail_ % capacity_, first = std::min(bytes, capacity_ - at);
  std::memcpy(data_ + at, from, first);
  std::memcpy(data_, static_cast<const uint8_t*>(from) + first, bytes - first);
  tail_ += bytes;
}

void RingWriter::put(uint32_t kind, std::span<const ByteView> parts) {
  RecordHeader header{0, kind};
  for (const ByteView part : parts) header.bytes += static_cast<uint32_t>(part.size());
  copy_in(&header, sizeof header);
  for (const ByteView part : parts) {
    if (!part.empty()) copy_in(part.data(), part.size());
  }
}

Result<size_t> RingReader::waiting() {
  const uint64_t tail = shown_.tail.load(std::memory_order_acquire);
  order_after_receiving();
  if (tail < head_ || tail - head_ > capacity_) return spoiled();
  return static_cast<size_t>(tail - head_);
}

Result<bool> RingReader::next(RecordHeader& header) {
  const auto bytes = waiting();
  if (!bytes) return bytes.status();
  if (*bytes == 0) return false;
  if (*bytes < sizeof header) return spoiled();
  at_ = head_;
  copy_out(&header, sizeof header);
  if (header.bytes > *bytes - sizeof header) return spoiled();
  return true;
}

void RingReader::copy_out(void* to, size_t bytes) {
  if (bytes == 0) return;  // then there may be no memory for it, either
  const size_t at = at_ % capacity_, first = std::min(bytes, capacity_ - at);
  std::memcpy(to, data_ + at, first);
  std::memcpy(static_cast<uint8_t*>(to) + first, data_, bytes - first);
  at_ += bytes;
}

bool RingReader::done(const RecordHeader& header) {
  order_before_sending();
  head_ += sizeof header + header.bytes;
  shown_.head.store(head_, std::memory_order_seq_cst);
  return shown_.tell.load(std::memory_order_seq_cst) != 0 && shown_.tell.exchange(0) != 0;
}

}  // namespace gt::wire
