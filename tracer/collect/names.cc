#include "tracer/collect/names.h"

#include <algorithm>

namespace gt::tracer {

void Objects::add_memory(uint64_t base, uint64_t size, ObjectRef object) {
  if (base == 0) return;
  memory_[base] = {object, size};
  if (size >= Large) {
    large_[base] = size;
  } else {
    lowest_small_ = std::min(lowest_small_, base);
    highest_small_ = std::max(highest_small_, base);
  }
}

Place Objects::take_memory(uint64_t base, uint64_t* size) {
  Memory* memory = memory_.find(base);
  if (!memory) return {};
  const Place place{memory->object, 0, true};
  if (size) *size = memory->size;
  if (memory->size >= Large) large_.erase(base);
  memory_.erase(base);
  return place;
}

Place Objects::find_memory(uint64_t address) {
  if (Memory* exact = memory_.find(address)) return {exact->object, 0, true};
  auto it = large_.upper_bound(address);
  if (it != large_.begin()) {
    --it;
    if (address - it->first < it->second)
      return {memory_.find(it->first)->object, address - it->first, true};
  }
  if (address < lowest_small_ || address >= highest_small_ + Large) return {};
  const uint64_t top = address & ~uint64_t{15};
  for (uint64_t base = top; base + Large > address && base != 0; base -= 16) {
    if (Memory* memory = memory_.find(base); memory && address - base < memory->size) {
      return {memory->object, address - base, true};
    }
  }
  return {};
}

}  // namespace gt::tracer
