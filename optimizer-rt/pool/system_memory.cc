// The system's own.
#include "optimizer-rt/pool/system_memory.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace gt::opt {
namespace {

void* map(size_t bytes, int protection) {
  return ::mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}
int protect(void* at, size_t bytes, int protection) { return ::mprotect(at, bytes, protection); }
// Not through madvise(): the injected library watches the program's by that name.
int advise(void* at, size_t bytes, int advice) { return static_cast<int>(::syscall(SYS_madvise, at, bytes, advice)); }
int lock(const void* at, size_t bytes) { return ::mlock(at, bytes); }
int unlock(const void* at, size_t bytes) { return ::munlock(at, bytes); }
int bind(void* at, size_t bytes, int policy, const NodeMask* nodes) {
  constexpr unsigned long Bits = MostNodes + 1;  // the system takes one less than it is told
  return static_cast<int>(::syscall(SYS_mbind, at, bytes, policy, nodes, nodes ? Bits : 0ul, 0u));
}

}  // namespace

constinit SystemMemory system_memory = {map, protect, advise, lock, unlock, bind};

}  // namespace gt::opt
