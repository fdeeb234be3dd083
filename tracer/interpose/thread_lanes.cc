#include "tracer/interpose/thread_lanes.h"

#include <atomic>
#include <bit>

namespace gt::interpose {

namespace {
constexpr uint32_t MostLanes = 128, WordLanes = 64;
}

// The lanes of one creator. Families are never given up: a creator's path is used again like any other thread's.
struct Family {
  std::atomic<uint64_t> key{0};  // hash of the creator's path; 0: nobody's
  std::atomic<uint64_t> taken[MostLanes / WordLanes];
  std::atomic<pthread_t> thread[MostLanes];  // meaningful while the lane is taken
  std::atomic<uint8_t> fate[MostLanes];
};

namespace {

constexpr uint32_t Families = 256;
constinit Family g_families[Families];
constinit std::atomic<uint32_t> g_beyond{MostLanes};  // the next number that no lane has

uint64_t key_of(const ThreadPath& path, bool driver) {
  uint64_t h = driver ? 0x9e3779b97f4a7c15 : 0xcbf29ce484222325;
  for (uint32_t i = 0; i < path.depth; ++i) h = (h ^ path.step[i]) * 0x100000001b3;
  return (h ^ h >> 29) | 1;
}

// In the order in which creators came: a walk over all of them ends at the first that is nobody's.
Family* family_of(const ThreadPath& creator, bool driver) {
  const uint64_t key = key_of(creator, driver);
  for (Family& family : g_families) {
    uint64_t found = family.key.load(std::memory_order_relaxed);
    if (found == 0) family.key.compare_exchange_strong(found, key, std::memory_order_relaxed);
    if (found == 0 || found == key) return &family;
  }
  return nullptr;
}

// The lowest zero of `word` becomes one; WordLanes: there is none.
uint32_t take_bit(std::atomic<uint64_t>& word) {
  uint64_t bits = word.load(std::memory_order_relaxed);
  while (~bits != 0) {
    const auto bit = static_cast<uint32_t>(std::countr_one(bits));
    if (word.compare_exchange_weak(bits, bits | uint64_t{1} << bit, std::memory_order_acquire)) return bit;
  }
  return WordLanes;
}

bool is_taken(const Family& family, uint32_t number) {
  return family.taken[number / WordLanes].load(std::memory_order_relaxed) >> number % WordLanes & 1;
}

}  // namespace

Lane take_lane(const ThreadPath& creator, bool driver) {
  Family* family = family_of(creator, driver);
  for (uint32_t w = 0; family && w < MostLanes / WordLanes; ++w) {
    const uint32_t bit = take_bit(family->taken[w]);
    if (bit == WordLanes) continue;
    const uint32_t number = w * WordLanes + bit;
    family->thread[number].store(0, std::memory_order_relaxed);
    family->fate[number].store(0, std::memory_order_relaxed);
    return {family, number};
  }
  return {nullptr, g_beyond.fetch_add(1, std::memory_order_relaxed)};
}

void give_back(Lane lane) {
  if (!lane.family) return;
  const uint64_t bit = uint64_t{1} << lane.number % WordLanes;
  lane.family->taken[lane.number / WordLanes].fetch_and(~bit, std::memory_order_release);
}

void meet(Lane lane, Fate fate) {
  if (!lane.family) return;
  const auto bit = static_cast<uint8_t>(fate);
  const uint8_t before = lane.family->fate[lane.number].fetch_or(bit, std::memory_order_acq_rel);
  if (before != 0 && before != bit) give_back(lane);
}

void name_lane(Lane lane, pthread_t thread) {
  if (!lane.family) return;
  // A detached one may have ended, and its lane be another's by now; and nobody asks for its name.
  const uint8_t fate = lane.family->fate[lane.number].load(std::memory_order_relaxed);
  if (fate & static_cast<uint8_t>(Fate::Detached)) return;
  lane.family->thread[lane.number].store(thread, std::memory_order_release);
}

Lane lane_of(pthread_t thread) {
  for (Family& family : g_families) {
    if (family.key.load(std::memory_order_relaxed) == 0) break;
    for (uint32_t i = 0; i < MostLanes; ++i) {
      if (family.thread[i].load(std::memory_order_acquire) == thread && is_taken(family, i)) return {&family, i};
    }
  }
  return {};
}

}  // namespace gt::interpose
