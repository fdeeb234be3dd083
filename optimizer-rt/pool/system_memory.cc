// The system's own.
#include "optimizer-rt/pool/system_memory.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "traces/base/high_fd.h"
#include "traces/base/overcommit.h"

namespace gt::opt {
namespace {

void* map(size_t bytes, int protection) {
  return ::mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}
// These two not through mprotect() and madvise(): the injected library watches the program's by that name.
int protect(void* at, size_t bytes, int protection, int key) {
  const bool plain = key == NoKey;  // older systems have no others
  return static_cast<int>(plain ? ::syscall(SYS_mprotect, at, bytes, protection)
                                : ::syscall(SYS_pkey_mprotect, at, bytes, protection, key));
}
int advise(void* at, size_t bytes, int advice) { return static_cast<int>(::syscall(SYS_madvise, at, bytes, advice)); }
int lock(const void* at, size_t bytes) { return ::mlock(at, bytes); }
int unlock(const void* at, size_t bytes) { return ::munlock(at, bytes); }
int bind(void* at, size_t bytes, int policy, const NodeMask* nodes) {
  constexpr unsigned long Bits = MostNodes + 1;  // the system takes one less than it is told
  return static_cast<int>(::syscall(SYS_mbind, at, bytes, policy, nodes, nodes ? Bits : 0ul, 0u));
}

// A file beyond the limit is a signal, not an error.
int make_file(size_t bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes) return -1;
  if (!memory_is_promised()) return -1;
  Fd file = high_fd(Fd(::memfd_create("gtrace-pool", MFD_CLOEXEC | MFD_ALLOW_SEALING)));
  if (!file.open() || ::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) return -1;
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK) != 0) return -1;
  return file.release();
}

// These not through mmap() and the like either.
bool map_file(void* at, size_t bytes, int protection, int flags, int file, size_t offset) {
  return ::syscall(SYS_mmap, at, bytes, protection, flags | MAP_FIXED | MAP_NORESERVE, file, offset) != -1;
}
bool move(void* from, void* to, size_t bytes) {
  return ::syscall(SYS_mremap, from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) != -1;
}
void* remap(void* at, size_t bytes, size_t new_bytes, int flags, void* to) {
  return reinterpret_cast<void*>(::syscall(SYS_mremap, at, bytes, new_bytes, flags, to));
}
void unmap(void* at, size_t bytes) { ::syscall(SYS_munmap, at, bytes); }

}  // namespace

constinit SystemMemory system_memory = {map,  protect,   advise,   lock, unlock,
                                        bind, make_file, map_file, move, remap, unmap};

}  // namespace gt::opt
