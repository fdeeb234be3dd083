#include "tests/fake_cl/fake_cuda.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

namespace gt::fake {
namespace {

using namespace moves::cuda;  // NOLINT: this file is that driver

constexpr Code Good = 0, Invalid = 1, NoMemory = 2, NoPeer = 217, Failed = 700, NotSupported = 801;

thread_local std::vector<Device> g_current;  // whose contexts are, the last one innermost

bool refuse() { return cuda().calls++ == cuda().refuse_at; }
Code made(bool good) {
  if (good) ++cuda().live;
  return good ? Good : NoMemory;
}
Code gone(bool good) {
  --cuda().live;
  return good ? Good : Invalid;
}
void* pointer(Address at) { return reinterpret_cast<void*>(at); }

bool reaches(Address at, size_t bytes) {
  const std::lock_guard lock(cuda().mutex);
  auto it = cuda().mapped.upper_bound(at);
  if (it == cuda().mapped.begin() || g_current.empty()) return false;
  --it;
  return at + bytes <= it->first + it->second.bytes && it->second.may.contains(g_current.back());
}

}  // namespace

Cuda& cuda() {
  static Cuda& only = *new Cuda;  // never destroyed: who ends last may still let go of something
  return only;
}

void start_cuda_anew() {
  cuda().~Cuda();
  new (&cuda()) Cuda;
}

}  // namespace gt::fake

using namespace gt::fake;
using namespace gt::moves::cuda;

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED Code cuInit(unsigned) { return Good; }
EXPORTED Code cuDeviceGetCount(int* count) { return *count = 16, refuse() ? Invalid : Good; }
EXPORTED Code cuDeviceGet(Device* device, int number) { return *device = number, Good; }
EXPORTED Code cuDeviceGetUuid(Uuid* uuid, Device device) {
  *uuid = {};
  uuid->bytes[3] = static_cast<unsigned char>(device);
  return Good;
}
EXPORTED Code cuDevicePrimaryCtxRetain(Context* context, Device device) {
  *context = reinterpret_cast<Context>(uintptr_t{100} + static_cast<uintptr_t>(device));
  return made(!refuse());
}
EXPORTED Code cuDevicePrimaryCtxRelease_v2(Device) { return gone(true); }
EXPORTED Code cuCtxPushCurrent_v2(Context context) {
  if (refuse()) return NoMemory;
  g_current.push_back(static_cast<Device>(reinterpret_cast<uintptr_t>(context) - 100));
  return made(true);
}
EXPORTED Code cuCtxPopCurrent_v2(Context*) { return g_current.pop_back(), gone(true); }
EXPORTED Code cuMemGetInfo_v2(size_t* free, size_t* total) { return *free = cuda().free, *total = 100, Good; }
EXPORTED Code cuMemGetAllocationGranularity(size_t* unit, const AllocationProperties*, int) {
  return *unit = size_t{2} << 20, Good;
}
EXPORTED Code cuMemCreate(Allocation* out, size_t bytes, const AllocationProperties*, unsigned long long) {
  if (refuse()) return NoMemory;
  const int fd = ::memfd_create("device", MFD_CLOEXEC);
  if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(bytes)) != 0) return NoMemory;
  *out = static_cast<Allocation>(fd);
  ++cuda().allocated;
  return made(true);
}
EXPORTED Code cuMemRelease(Allocation allocation) {
  ++cuda().released;
  return gone(::close(static_cast<int>(allocation)) == 0);
}
EXPORTED Code cuMemExportToShareableHandle(void* out, Allocation allocation, int, unsigned long long) {
  if (refuse()) return NotSupported;
  const int copy = ::dup(static_cast<int>(allocation));
  std::memcpy(out, &copy, sizeof copy);
  return copy < 0 ? Invalid : Good;
}
EXPORTED Code cuMemAddressReserve(Address* out, size_t bytes, size_t, Address, unsigned long long) {
  if (refuse()) return NoMemory;
  void* const base = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *out = reinterpret_cast<Address>(base);
  return made(base != MAP_FAILED);
}
EXPORTED Code cuMemAddressFree(Address at, size_t bytes) { return gone(::munmap(pointer(at), bytes) == 0); }
EXPORTED Code cuMemMap(Address at, size_t bytes, size_t, Allocation allocation, unsigned long long) {
  const int fd = static_cast<int>(allocation);
  if (refuse() || ::mmap(pointer(at), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
    return NoMemory;
  const std::lock_guard lock(cuda().mutex);
  cuda().mapped[at] = {bytes, {}};
  return made(true);
}
EXPORTED Code cuMemUnmap(Address at, size_t) {
  const std::lock_guard lock(cuda().mutex);
  return gone(cuda().mapped.erase(at) == 1);
}
EXPORTED Code cuMemSetAccess(Address at, size_t bytes, const Access* access, size_t n) {
  if (refuse()) return NoPeer;
  const std::lock_guard lock(cuda().mutex);
  const auto it = cuda().mapped.find(at);
  if (it == cuda().mapped.end() || it->second.bytes != bytes) return Invalid;
  for (size_t i = 0; i < n; ++i) it->second.may.insert(access[i].location.id);
  return Good;
}
EXPORTED Code cuStreamCreate(Stream* stream, unsigned) {
  *stream = reinterpret_cast<Stream>(uintptr_t{7});
  return made(!refuse());
}
EXPORTED Code cuStreamDestroy_v2(Stream) { return gone(true); }
EXPORTED Code cuStreamSynchronize(Stream) { return refuse() ? Failed : Good; }
EXPORTED Code cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, Stream) {
  constexpr size_t Small = 1024;
  if (!reaches(to, bytes) || !reaches(from, bytes)) return Invalid;
  std::this_thread::sleep_for(cuda().copy_time);
  ++cuda().copies;
  std::memmove(pointer(to), pointer(from), bytes);
  if (cuda().mixes_up && bytes > Small) static_cast<char*>(pointer(to))[bytes / 2] ^= 1;
  return Good;
}

#define GT_X(name, symbol, ...) extern Code linked_##name(__VA_ARGS__) asm(symbol);
GT_CUDA_FUNCTIONS(GT_X)
#undef GT_X

const Functions* gt::fake::cuda_table() {
  static const Functions table = [] {
    Functions f;
#define GT_X(name, symbol, ...) f.name = linked_##name;
    GT_CUDA_FUNCTIONS(GT_X)
#undef GT_X
    return f;
  }();
  return &table;
}
