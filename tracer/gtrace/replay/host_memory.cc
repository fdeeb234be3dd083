#include "tracer/gtrace/replay/host_memory.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "tracer/gtrace/replay/host_block.h"

namespace gt::tracer {

namespace {

constexpr size_t Page = 4096;  // USE_HOST_PTR is free of copies from here on with most drivers

// The first entry of a map by first offset whose range ends behind `begin`.
template <class Map>
auto first_touching(Map& map, int64_t begin) {
  auto it = map.upper_bound(begin);
  if (it != map.begin() && std::prev(it)->second.end > begin) --it;
  return it;
}

}  // namespace

uint8_t* HostMemory::at(const HostPlace& place, size_t bytes) {
  int64_t end = 0;
  if (__builtin_add_overflow(place.offset, static_cast<int64_t>(std::max<size_t>(bytes, 1)), &end)) return nullptr;
  const MutexLock lock(mutex_);
  Block& block = blocks_[{place.cls, place.slot}];
  auto it = first_touching(block.ranges, place.offset);
  const bool inside = it != block.ranges.end() && it->first <= place.offset && it->second.end >= end;
  if (!inside) it = grow(block, place.offset, end);
  return it == block.ranges.end() ? nullptr : it->second.base + (place.offset - it->first);
}

HostMemory::Ranges::iterator HostMemory::grow(Block& block, int64_t begin, int64_t end) {
  const auto first = first_touching(block.ranges, begin);
  auto last = first;
  for (; last != block.ranges.end() && last->first < end; ++last) {
    begin = std::min(begin, last->first);
    end = std::max(end, last->second.end);
  }
  const auto size = static_cast<size_t>(end - begin);
  const size_t aligned = size >= Page ? Page : 1;
  if (size > SIZE_MAX - aligned) return block.ranges.end();
  void* const memory = host_block(size + aligned - 1);
  if (!memory) return block.ranges.end();
  const auto first_byte = (reinterpret_cast<uintptr_t>(memory) + aligned - 1) / aligned * aligned;
  Range made{std::shared_ptr<void>(memory, Free{}), reinterpret_cast<uint8_t*>(first_byte), end};
  for (auto it = first; it != last; ++it) {
    std::memcpy(made.base + (it->first - begin), it->second.base, static_cast<size_t>(it->second.end - it->first));
    old_.push_back(it->second.memory);
  }
  block.ranges.erase(first, last);
  bytes_ += size;
  return block.ranges.emplace(begin, std::move(made)).first;
}

void HostMemory::note_content(const HostPlace& place, size_t bytes, int64_t content) {
  const MutexLock lock(mutex_);
  std::map<int64_t, Content>& contents = blocks_[{place.cls, place.slot}].contents;
  const int64_t end = place.offset + static_cast<int64_t>(bytes);
  auto it = first_touching(contents, place.offset);
  while (it != contents.end() && it->first < end) it = contents.erase(it);
  if (content >= 0) contents[place.offset] = {end, content};
}

bool HostMemory::holds(const HostPlace& place, size_t bytes, int64_t content) const {
  const MutexLock lock(mutex_);
  const auto block = blocks_.find({place.cls, place.slot});
  if (block == blocks_.end()) return false;
  const auto it = block->second.contents.find(place.offset);
  return it != block->second.contents.end() && it->second.number == content &&
         it->second.end == place.offset + static_cast<int64_t>(bytes);
}

size_t HostMemory::bytes() const {
  const MutexLock lock(mutex_);
  return bytes_;
}

}  // namespace gt::tracer
