#include "transport/link/node/shm_region.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <new>

namespace gt::wire {
namespace {

constexpr uint64_t Magic = 0x314d48534b4c5447;  // "GTLKSHM1"
constexpr uint32_t Version = 1;

}  // namespace

Result<Fd> make_shared_memory(size_t bytes) {
  Fd memory(::memfd_create("gtrace-link", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory.open()) return system_error("shared memory", errno);
  if (::ftruncate(memory.get(), static_cast<off_t>(bytes)) != 0) return system_error("shared memory", errno);
  if (::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK) != 0) return system_error("shared memory", errno);
  return memory;
}

Status check_shared_memory(int memory, uint64_t bytes) {
  const Status unfit(Kind::Corrupt, "the peer's shared memory is of a kind that is not safe to use");
  const int seals = ::fcntl(memory, F_GET_SEALS);
  struct stat about {};
  struct statfs where {};
  if (seals < 0 || !(seals & F_SEAL_SHRINK)) return unfit;
  if (::fstat(memory, &about) != 0 || ::fstatfs(memory, &where) != 0) return unfit;
  if (where.f_type != TMPFS_MAGIC || static_cast<uint64_t>(about.st_size) < bytes) return unfit;
  return {};
}

Result<std::shared_ptr<ShmRegion>> ShmRegion::make(Fd& memory) {
  auto made = make_shared_memory(RegionBytes);
  if (!made) return made.status();
  memory = std::move(*made);
  void* const base = ::mmap(nullptr, RegionBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (base == MAP_FAILED) return system_error("shared memory", errno);
  auto* const head = new (base) RegionHead;
  head->magic = Magic;
  head->version = Version;
  return std::shared_ptr<ShmRegion>(new ShmRegion(static_cast<uint8_t*>(base)));
}

Result<std::shared_ptr<ShmRegion>> ShmRegion::map(int memory) {
  GT_TRY(check_shared_memory(memory, RegionBytes));
  void* const base = ::mmap(nullptr, RegionBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  if (base == MAP_FAILED) return system_error("shared memory", errno);
  std::shared_ptr<ShmRegion> region(new ShmRegion(static_cast<uint8_t*>(base)));
  if (region->head().magic == Magic && region->head().version == Version) return region;
  return Status(Kind::Unsupported, "the server's shared memory has another layout: install the same release");
}

ShmRegion::~ShmRegion() { ::munmap(base_, RegionBytes); }

}  // namespace gt::wire
