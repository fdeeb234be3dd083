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
  uint64_t base = 0;
  const Memory* memory = memory_around(address, &base);
  return memory ? Place{memory->object, address - base, true} : Place{};
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
