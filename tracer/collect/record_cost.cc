#include "tracer/collect/record_cost.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>

#include "tracer/lib/spool.h"
#include "tracer/lib/ticks.h"

namespace gt::tracer {

double measure_record_ns() {
  constexpr uint64_t RingBytes = 256 << 10;
  constexpr int Records = 2000, Rounds = 5;
  struct Record {
    RecordHeader header;
    uint64_t words[4];
  };
  const auto ring = std::make_unique<uint8_t[]>(RingBytes + sizeof(Record));
  std::atomic<uint64_t> head{0};
  double best = 1e9;
  for (int round = 0; round < Rounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < Records; ++i) {
      const auto w = static_cast<uint64_t>(i);
      const Record record{{sizeof(Record), RecordType::Enter, 0, ticks_after_loads()}, {w, w, w, w}};
      const uint64_t at = head.load(std::memory_order_relaxed);
      std::memcpy(&ring[at % RingBytes], &record, sizeof record);
      head.store(at + sizeof record, std::memory_order_release);
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count() / Records);
  }
  return best;
}

}  // namespace gt::tracer
