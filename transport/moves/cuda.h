// What is used of NVIDIA's CUDA driver, libcuda.so.1, which comes with their OpenCL driver: device memory that OpenCL
// imports (cl_khr_external_memory_opaque_fd) and that one device writes to another by itself, over NVLink where there
// is one. Their OpenCL driver moves contents between devices through ordinary host memory only.
//
// Declared here because nothing of CUDA is needed to build: names, layouts and numbers are those of the driver's binary
// interface (CUDA 11.2 and later; CUDA Driver API, sections 6.8 and 6.14).
// Thread safety: all functions. A thread that calls any of them holds a Use.
#pragma once

#include <cstddef>

namespace gt::moves::cuda {

using Code = int;  // 0: success
using Device = int;
using Address = unsigned long long;     // of device memory
using Allocation = unsigned long long;  // physical memory, wherever it is mapped
using Context = struct ContextTag*;
using Stream = struct StreamTag*;

struct Uuid {
  unsigned char bytes[16];
};
struct Location {
  int type = 1;  // a device
  int id = 0;    // its number
};
struct AllocationProperties {
  int type = 1;     // on a device, pinned
  int handles = 1;  // may be exported as a file descriptor
  Location location;
  void* of_windows = nullptr;
  unsigned char compressed = 0, for_rdma = 0;
  unsigned short usage = 0;
  unsigned char reserved[4] = {};
};
static_assert(sizeof(AllocationProperties) == 32);
struct Access {
  Location location;
  int flags = 3;  // reads and writes
};

#define GT_CUDA_FUNCTIONS(X)                                                                               \
  X(device_count, "cuDeviceGetCount", int*)                                                                \
  X(device, "cuDeviceGet", Device*, int)                                                                   \
  X(uuid, "cuDeviceGetUuid", Uuid*, Device)                                                                \
  X(retain_context, "cuDevicePrimaryCtxRetain", Context*, Device)                                          \
  X(release_context, "cuDevicePrimaryCtxRelease_v2", Device)                                               \
  X(push_context, "cuCtxPushCurrent_v2", Context)                                                          \
  X(pop_context, "cuCtxPopCurrent_v2", Context*)                                                           \
  X(memory_info, "cuMemGetInfo_v2", size_t*, size_t*)                                                      \
  X(granularity, "cuMemGetAllocationGranularity", size_t*, const AllocationProperties*, int)               \
  X(allocate, "cuMemCreate", Allocation*, size_t, const AllocationProperties*, unsigned long long)         \
  X(release, "cuMemRelease", Allocation)                                                                   \
  X(export_handle, "cuMemExportToShareableHandle", void*, Allocation, int, unsigned long long)             \
  X(reserve_address, "cuMemAddressReserve", Address*, size_t, size_t, Address, unsigned long long)         \
  X(free_address, "cuMemAddressFree", Address, size_t)                                                     \
  X(map, "cuMemMap", Address, size_t, size_t, Allocation, unsigned long long)                              \
  X(unmap, "cuMemUnmap", Address, size_t)                                                                  \
  X(set_access, "cuMemSetAccess", Address, size_t, const Access*, size_t)                                  \
  X(create_stream, "cuStreamCreate", Stream*, unsigned)                                                    \
  X(destroy_stream, "cuStreamDestroy_v2", Stream)                                                          \
  X(synchronize, "cuStreamSynchronize", Stream)                                                            \
  X(copy, "cuMemcpyDtoDAsync_v2", Address, Address, size_t, Stream)

struct Functions {
#define GT_X(name, symbol, ...) Code (*name)(__VA_ARGS__) = nullptr;
  GT_CUDA_FUNCTIONS(GT_X)
#undef GT_X
};

// Loads and initializes the driver at the first call, some 10 ms; nullptr: there is none, or it is too old.
const Functions* driver();

// While a thread is inside the driver: the process does not end underneath it. Not allowed: the process is ending, or
// is a child of the one that loaded the driver; nothing may be called then, not even to let go of something.
class Use {
 public:
  Use();
  ~Use();
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  bool allowed() const { return allowed_; }

 private:
  bool allowed_;
};

bool is_leaving();  // the process is ending

// From now on the end of this process waits, for some seconds at most, for those that hold a Use, and a child of it may
// not hold one. Handlers at exit run in reverse: REQUIRES that the driver's are registered. False: no memory.
bool wait_at_exit();

// A context that is the thread's current one; the one before is so again afterwards, since it may be the program's.
class Current {
 public:
  Current(const Functions& cuda, Context context) : cuda_(cuda), good_(cuda.push_context(context) == 0) {}
  ~Current() {
    Context ours = nullptr;
    if (good_) cuda_.pop_context(&ours);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  bool good() const { return good_; }

 private:
  const Functions& cuda_;
  const bool good_;
};

}  // namespace gt::moves::cuda
