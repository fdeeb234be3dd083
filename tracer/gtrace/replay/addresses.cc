#include "tracer/gtrace/replay/addresses.h"

#include <cstring>
#include <iterator>

namespace gt::tracer {

void SharedAddresses::add(uint64_t recorded, uint64_t here, uint64_t bytes) {
  if (recorded == 0 || here == 0 || bytes == 0 || recorded > UINT64_MAX - bytes) return;
  const MutexLock lock(mutex_);
  put(to_here_, recorded, {bytes, here});
  put(to_recorded_, here, {bytes, recorded});
  if (recorded != here) any_.store(true, std::memory_order_release);
}

// What it overlaps is no more.
void SharedAddresses::put(Blocks& blocks, uint64_t at, const Block& block) {
  auto it = blocks.upper_bound(at);
  if (it != blocks.begin() && at - std::prev(it)->first < std::prev(it)->second.bytes) --it;
  while (it != blocks.end() && it->first < at + block.bytes) it = blocks.erase(it);
  blocks[at] = block;
}

bool SharedAddresses::change(Blocks SharedAddresses::*which, std::span<uint8_t> data) const {
  if (!any_.load(std::memory_order_acquire)) return false;
  const MutexLock lock(mutex_);
  const Blocks& blocks = this->*which;
  const uint64_t lowest = blocks.begin()->first;
  const uint64_t end = blocks.rbegin()->first + blocks.rbegin()->second.bytes;
  bool changed = false;
  for (size_t i = 0; i + sizeof(uint64_t) <= data.size(); i += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, &data[i], sizeof word);
    if (word < lowest || word >= end) continue;
    const auto& [begin, block] = *std::prev(blocks.upper_bound(word));
    if (word - begin >= block.bytes) continue;
    word = block.other + (word - begin);
    std::memcpy(&data[i], &word, sizeof word);
    changed = true;
  }
  return changed;
}

}  // namespace gt::tracer
