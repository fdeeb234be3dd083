#include "tracer/interpose/thread_slots.h"

#include <atomic>
#include <bit>

namespace gt::interpose {

namespace {
constexpr uint32_t MostSlots = 128, WordSlots = 64;
}

// The thread slots of one creator. Families are never given up: a creator's path is used again like any other thread's.
struct Family {
  std::atomic<uint64_t> key{0};  // hash of the creator's path; 0: nobody's
  std::atomic<uint64_t> taken[MostSlots / WordSlots];
  std::atomic<pthread_t> thread[MostSlots];  // meaningful while the thread slot is taken
  std::atomic<uint8_t> fate[MostSlots];
};

namespace {

constexpr uint32_t Families = 256;
constinit Family g_families[Families];
constinit std::atomic<uint32_t> g_beyond{MostSlots};  // the next number that no thread slot has

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

// The lowest zero of `word` becomes one; WordSlots: there is none.
uint32_t take_bit(std::atomic<uint64_t>& word) {
  uint64_t bits = word.load(std::memory_order_relaxed);
  while (~bits != 0) {
    const auto bit = static_cast<uint32_t>(std::countr_one(bits));
    if (word.compare_exchange_weak(bits, bits | uint64_t{1} << bit, std::memory_order_acquire)) return bit;
  }
  return WordSlots;
}

bool is_taken(const Family& family, uint32_t number) {
  return family.taken[number / WordSlots].load(std::memory_order_relaxed) >> number % WordSlots & 1;
}

}  // namespace

ThreadSlot take_thread_slot(const ThreadPath& creator, bool driver) {
  Family* family = family_of(creator, driver);
  for (uint32_t w = 0; family && w < MostSlots / WordSlots; ++w) {
    const uint32_t bit = take_bit(family->taken[w]);
    if (bit == WordSlots) continue;
    const uint32_t number = w * WordSlots + bit;
    family->thread[number].store(0, std::memory_order_relaxed);
    family->fate[number].store(0, std::memory_order_relaxed);
    return {family, number};
  }
  return {nullptr, g_beyond.fetch_add(1, std::memory_order_relaxed)};
}

void give_back(ThreadSlot thread_slot) {
  if (!thread_slot.family) return;
  const uint64_t bit = uint64_t{1} << thread_slot.number % WordSlots;
  thread_slot.family->taken[thread_slot.number / WordSlots].fetch_and(~bit, std::memory_order_release);
}

void meet(ThreadSlot thread_slot, Fate fate) {
  if (!thread_slot.family) return;
  const auto bit = static_cast<uint8_t>(fate);
  const uint8_t before = thread_slot.family->fate[thread_slot.number].fetch_or(bit, std::memory_order_acq_rel);
  if (before != 0 && before != bit) give_back(thread_slot);
}

void name_thread_slot(ThreadSlot thread_slot, pthread_t thread) {
  if (!thread_slot.family) return;
  // A detached one may have ended, and its thread slot be another's by now; and nobody asks for its name.
  const uint8_t fate = thread_slot.family->fate[thread_slot.number].load(std::memory_order_relaxed);
  if (fate & static_cast<uint8_t>(Fate::Detached)) return;
  thread_slot.family->thread[thread_slot.number].store(thread, std::memory_order_release);
}

ThreadSlot thread_slot_of(pthread_t thread) {
  for (Family& family : g_families) {
    if (family.key.load(std::memory_order_relaxed) == 0) break;
    for (uint32_t i = 0; i < MostSlots; ++i) {
      if (family.thread[i].load(std::memory_order_acquire) == thread && is_taken(family, i)) return {&family, i};
    }
  }
  return {};
}

}  // namespace gt::interpose
