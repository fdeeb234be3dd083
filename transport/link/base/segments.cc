#include "transport/link/base/segments.h"

#include <sys/mman.h>

namespace gt::wire {

Segments::~Segments() {
  for (const auto& [id, memory] : segments_) release(memory);
}

Result<SegmentId> Segments::add(void* base, size_t bytes, bool mapped) {
  const MutexLock lock(mutex_);
  if (segments_.size() >= Most || next_ == ~SegmentId{0}) return Status(Kind::Busy, "too many exposed segments");
  segments_[next_] = {static_cast<char*>(base), bytes, mapped};
  return next_++;
}

void Segments::own(SegmentId segment) {
  const MutexLock lock(mutex_);
  const auto it = segments_.find(segment);
  if (it != segments_.end()) it->second.mapped = true;
}

Segments::Memory Segments::withdraw(SegmentId segment) {
  const MutexLock lock(mutex_);
  const auto it = segments_.find(segment);
  if (it == segments_.end()) return {};
  const Memory memory = it->second;
  segments_.erase(it);
  return memory;
}

void Segments::release(const Memory& memory) {
  if (memory.mapped) ::munmap(memory.base, memory.bytes);
}

char* Segments::find(Address at, size_t bytes) {
  const auto it = segments_.find(at.segment);
  if (it == segments_.end()) return nullptr;
  const Memory& m = it->second;
  return at.offset <= m.bytes && bytes <= m.bytes - at.offset ? m.base + at.offset : nullptr;
}

bool Segments::use(Address at, size_t bytes, const std::function<void(char*)>& use) {
  const MutexLock lock(mutex_);
  char* const p = find(at, bytes);
  if (p) use(p);
  return p != nullptr;
}

bool Segments::holds(Address at, size_t bytes) {
  const MutexLock lock(mutex_);
  return find(at, bytes) != nullptr;
}

}  // namespace gt::wire
