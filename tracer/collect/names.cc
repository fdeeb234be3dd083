#include "tracer/collect/names.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gt::tracer {

static Place in_memory(const Memory& memory, uint64_t offset) {
  return {memory.object, memory.offset + offset, true};
}

void Objects::add_memory(uint64_t base, uint64_t size, ObjectRef object) {
  if (base == 0) return;
  memory_[base] = {.object = object, .size = size};
  note_extent(base, size);
}

void Objects::note_extent(uint64_t base, uint64_t size) {
  if (size >= Large) {
    large_[base] = size;
  } else {
    lowest_small_ = std::min(lowest_small_, base);
    highest_small_ = std::max(highest_small_, base);
  }
}

Place Objects::longer_memory_from(uint64_t base) {
  const Memory* memory = memory_.find(base);
  return memory ? in_memory(*memory, 0) : Place{};
}

Place Objects::take_memory(uint64_t base, uint64_t* size) {
  if (BlockTable::Block* block = blocks_.find(base)) {
    const Place place{block->object, 0, true};
    if (size) *size = block->size;
    BlockTable::remove(*block);
    return place;
  }
  return take_longer_memory(base, size);
}

Place Objects::take_longer_memory(uint64_t base, uint64_t* size) {
  Memory* memory = memory_.find(base);
  if (!memory) return {};
  const Place place = in_memory(*memory, 0);
  if (size) *size = memory->size;
  if (memory->size >= Large) large_.erase(base);
  memory_.erase(base);
  return place;
}

void Objects::unmap(uint64_t base, uint64_t size, std::vector<ObjectRef>& ended) {
  const uint64_t end = base + size < base ? ~uint64_t{0} : base + size;
  auto it = large_.lower_bound(base);
  if (it != large_.begin() && std::prev(it)->first + std::prev(it)->second > base) --it;
  while (it != large_.end() && it->first < end) {
    const uint64_t old_base = it->first, old_end = old_base + it->second;
    const Memory old = *memory_.find(old_base);
    it = large_.erase(it);
    memory_.erase(old_base);
    const auto keep = [&](uint64_t from, uint64_t to) {
      if (from >= to) return false;
      add_memory(from, to - from, old.object);
      memory_.find(from)->offset = old.offset + (from - old_base);
      return true;
    };
    const bool head = keep(old_base, base), tail = keep(end, old_end);
    const auto key = std::pair(old.object.cls, old.object.slot);
    if (head && tail) {
      ++more_pieces_[key];
    } else if (!head && !tail) {
      const auto more = more_pieces_.find(key);
      if (more == more_pieces_.end()) {
        ended.push_back(old.object);
      } else if (--more->second == 0) {
        more_pieces_.erase(more);
      }
    }
  }
}

Place Objects::find_memory(uint64_t address) {
  if (const BlockTable::Block* block = blocks_.find(address)) return {block->object, 0, true};
  uint64_t base = 0;
  if (const Memory* memory = memory_around(address, &base)) return in_memory(*memory, address - base);
  const BlockTable::Block* block = blocks_.find_around(address, base);
  return block ? Place{block->object, address - base, true} : Place{};
}

Memory* Objects::memory_around(uint64_t address, uint64_t* base) {
  const auto found = [base](uint64_t at, Memory* memory) {
    if (base) *base = at;
    return memory;
  };
  if (Memory* exact = memory_.find(address)) return found(address, exact);
  auto it = large_.upper_bound(address);
  if (it != large_.begin()) {
    --it;
    if (address - it->first < it->second) return found(it->first, memory_.find(it->first));
  }
  if (address < lowest_small_ || address >= highest_small_ + Large) return {};
  const uint64_t top = address & ~uint64_t{15};
  for (uint64_t at = top; at + Large > address && at != 0; at -= 16) {
    if (Memory* memory = memory_.find(at); memory && address - at < memory->size) return found(at, memory);
  }
  return nullptr;
}

}  // namespace gt::tracer
