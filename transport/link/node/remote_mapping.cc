#include "transport/link/node/remote_mapping.h"

#include <sys/mman.h>

#include <cerrno>

#include "transport/link/node/shm_region.h"

namespace gt::wire {
namespace {

constexpr uint64_t PageBytes = 4096;

}  // namespace

RemoteMapping::~RemoteMapping() {
  for (const auto& slot : pages_) {
    const std::unique_ptr<Page> page(slot.load());
    for (size_t i = 0; page && i < PageEntries; ++i) {
      const std::unique_ptr<Entry> entry((*page)[i].load());
      if (entry) ::munmap(entry->mapping, entry->mapping_bytes);
    }
  }
}

Status RemoteMapping::map(SegmentId segment, int memory, uint64_t offset, uint64_t bytes) {
  const MutexLock lock(mutex_);
  if (segment >= PageEntries * Pages || find(segment) || bytes == 0) return {Kind::Corrupt, "a wrong shared segment"};
  if (bytes > MostBytes || offset > MostBytes || mapped_bytes_ + bytes > MostBytes)
    return {Kind::Busy, "the peer shares too much memory"};
  GT_TRY(check_shared_memory(memory, offset + bytes));
  const uint64_t skip = offset % PageBytes, whole = skip + bytes;
  void* const mapping =
      ::mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_SHARED, memory, static_cast<off_t>(offset - skip));
  if (mapping == MAP_FAILED) return system_error("the peer's shared memory", errno);
  auto entry = std::make_unique<Entry>();
  entry->mapping = mapping;
  entry->mapping_bytes = whole;
  entry->base = static_cast<char*>(mapping) + skip;
  entry->bytes = bytes;
  mapped_bytes_ += bytes;
  auto& slot = pages_[segment / PageEntries];
  if (!slot.load()) slot.store(new Page(), std::memory_order_release);
  (*slot.load())[segment % PageEntries].store(entry.release(), std::memory_order_release);
  return {};
}

void RemoteMapping::withdraw(SegmentId segment) {
  const MutexLock lock(mutex_);
  Entry* const e = find(segment);
  if (!e || e->withdrawn.exchange(true)) return;
  ::mmap(e->mapping, e->mapping_bytes, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
         -1, 0);
  mapped_bytes_ -= e->bytes;
}

}  // namespace gt::wire
