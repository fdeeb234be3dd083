// PoCL's devices as if NVIDIA's drivers drove them: OpenCL imports memory of CUDA's, and CUDA's copies go from device
// to device while transfers through the host take their time. Loaded as an ICD and, as libcuda.so.1, as CUDA.
//
// Memory of CUDA's is a memfd that each side maps. A copy between addresses that the current context may not reach
// fails. PEER_DRIVER_COUNTS: a file that says at exit how much was allocated, let go of and copied.
#include <CL/cl_icd.h>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

using AddressOf = void*(CL_API_CALL*)(const char*);
using PlatformIds = cl_int(CL_API_CALL*)(cl_uint, cl_platform_id*, cl_uint*);

AddressOf address_of() {
  static void* const pocl = ::dlopen("libpocl.so.2", RTLD_NOW | RTLD_LOCAL);
  return pocl ? reinterpret_cast<AddressOf>(::dlsym(pocl, "clGetExtensionFunctionAddress")) : nullptr;
}

// --- OpenCL ---

cl_icd_dispatch g_pocl;  // as it was
std::vector<cl_device_id> g_devices;

cl_int answer(const void* found, size_t bytes, size_t size, void* value, size_t* size_ret) {
  if (size_ret) *size_ret = bytes;
  if (value && size < bytes) return CL_INVALID_VALUE;
  if (value) std::memcpy(value, found, bytes);
  return CL_SUCCESS;
}

cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info name, size_t size, void* value, size_t* size_ret) {
  constexpr cl_device_info Uuid = 0x106A;
  if (name == Uuid) {
    std::array<char, 16> uuid{};
    uuid[3] = static_cast<char>(std::find(g_devices.begin(), g_devices.end(), device) - g_devices.begin());
    return answer(uuid.data(), uuid.size(), size, value, size_ret);
  }
  if (name != CL_DEVICE_EXTENSIONS) return g_pocl.clGetDeviceInfo(device, name, size, value, size_ret);
  char text[8192] = {};
  const cl_int code = g_pocl.clGetDeviceInfo(device, name, sizeof text - 1, text, nullptr);
  const std::string all = std::string(text) + " cl_khr_external_memory_opaque_fd";
  return code == CL_SUCCESS ? answer(all.c_str(), all.size() + 1, size, value, size_ret) : code;
}

struct Mapping {
  void* base;
  size_t bytes;
};

void CL_CALLBACK unmap(cl_mem, void* data) {
  auto* const mapping = static_cast<Mapping*>(data);
  ::munmap(mapping->base, mapping->bytes);
  delete mapping;
}

cl_mem CL_API_CALL create_buffer(cl_context context, const cl_mem_properties* properties, cl_mem_flags flags,
                                 size_t size, void* host, cl_int* code) {
  constexpr cl_mem_properties OpaqueDescriptor = 0x2060;
  if (!properties || properties[0] != OpaqueDescriptor)
    return g_pocl.clCreateBufferWithProperties(context, properties, flags, size, host, code);
  const int descriptor = static_cast<int>(properties[1]);
  void* const base = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  ::close(descriptor);
  const cl_mem mem = g_pocl.clCreateBuffer(context, flags | CL_MEM_USE_HOST_PTR, size, base, code);
  if (mem) g_pocl.clSetMemObjectDestructorCallback(mem, unmap, new Mapping{base, size});
  return mem;
}

// Such memory has no parts: NVIDIA's driver lets some be made, but not be used.
cl_mem CL_API_CALL create_sub_buffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type, const void* info,
                                     cl_int* code) {
  cl_mem_flags has = 0;
  g_pocl.clGetMemObjectInfo(buffer, CL_MEM_FLAGS, sizeof has, &has, nullptr);
  if (!(has & CL_MEM_USE_HOST_PTR)) return g_pocl.clCreateSubBuffer(buffer, flags, type, info, code);
  *code = CL_INVALID_OPERATION;
  return nullptr;
}

// 1 ms for each MiB, as over a slow bus: whatever else this machine does, it is no match for copies in memory.
void take_time(size_t bytes) {
  constexpr size_t Small = size_t{16} << 10;
  if (bytes < Small) return;
  std::this_thread::sleep_for(std::chrono::microseconds(500 + bytes / 1000));
}

cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t offset, size_t size,
                               void* to, cl_uint n, const cl_event* list, cl_event* event) {
  take_time(size);
  return g_pocl.clEnqueueReadBuffer(queue, mem, blocking, offset, size, to, n, list, event);
}

cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t offset, size_t size,
                                const void* from, cl_uint n, const cl_event* list, cl_event* event) {
  take_time(size);
  return g_pocl.clEnqueueWriteBuffer(queue, mem, blocking, offset, size, from, n, list, event);
}

// In the table that all of its handles begin with.
void take_over(cl_platform_id platform) {
  cl_icd_dispatch* table = nullptr;
  std::memcpy(&table, platform, sizeof table);
  g_pocl = *table;
  cl_uint count = 0;
  g_pocl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
  g_devices.resize(count);
  g_pocl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, g_devices.data(), nullptr);
  constexpr uintptr_t Page = 4096;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(table) & ~(Page - 1);
  ::mprotect(reinterpret_cast<void*>(begin), sizeof *table + Page, PROT_READ | PROT_WRITE);
  table->clGetDeviceInfo = device_info;
  table->clCreateBufferWithProperties = create_buffer;
  table->clCreateSubBuffer = create_sub_buffer;
  table->clEnqueueReadBuffer = read_buffer;
  table->clEnqueueWriteBuffer = write_buffer;
}

// --- CUDA ---

using Code = int;
using Address = unsigned long long;
constexpr Code Good = 0, Invalid = 1;
struct Access {
  int type, device, flags;
};
struct Mapped {
  size_t bytes;
  std::set<int> may;
};

std::mutex g_mutex;
std::map<Address, Mapped> g_mapped;
thread_local std::vector<int> g_current;
std::atomic<int> g_allocated{0}, g_released{0}, g_copied{0}, g_contexts{0};

bool reaches(Address at, size_t bytes) {
  const std::lock_guard lock(g_mutex);
  auto it = g_mapped.upper_bound(at);
  if (it == g_mapped.begin() || g_current.empty()) return false;
  --it;
  return at + bytes <= it->first + it->second.bytes && it->second.may.contains(g_current.back());
}

struct Counts {
  ~Counts() {
    const char* const path = std::getenv("PEER_DRIVER_COUNTS");
    std::FILE* const file = path ? std::fopen(path, "w") : nullptr;
    if (!file) return;
    std::fprintf(file, "{\"allocated\": %d, \"released\": %d, \"copied\": %d}\n", g_allocated.load(), g_released.load(),
                 g_copied.load());
    std::fclose(file);
  }
} g_counts;

}  // namespace

EXPORTED cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint n, cl_platform_id* platforms, cl_uint* count) {
  const AddressOf address = address_of();
  const auto ids = address ? reinterpret_cast<PlatformIds>(address("clIcdGetPlatformIDsKHR")) : nullptr;
  const cl_int code = ids ? ids(n, platforms, count) : CL_INVALID_VALUE;
  static std::once_flag once;
  if (code == CL_SUCCESS && platforms && n > 0) std::call_once(once, [&] { take_over(platforms[0]); });
  return code;
}

EXPORTED void* CL_API_CALL clGetExtensionFunctionAddress(const char* name) {
  if (std::strcmp(name, "clIcdGetPlatformIDsKHR") == 0) return reinterpret_cast<void*>(&clIcdGetPlatformIDsKHR);
  const AddressOf address = address_of();
  return address ? address(name) : nullptr;
}

EXPORTED Code cuInit(unsigned) { return Good; }
EXPORTED Code cuDeviceGetCount(int* count) { return *count = 16, Good; }
EXPORTED Code cuDeviceGet(int* device, int number) { return *device = number, Good; }
EXPORTED Code cuDeviceGetUuid(char* uuid, int device) {
  std::memset(uuid, 0, 16);
  uuid[3] = static_cast<char>(device);
  return Good;
}
EXPORTED Code cuDevicePrimaryCtxRetain(intptr_t* context, int device) {
  *context = 100 + device;
  return ++g_contexts, Good;
}
EXPORTED Code cuDevicePrimaryCtxRelease_v2(int) { return --g_contexts, Good; }
EXPORTED Code cuCtxPushCurrent_v2(intptr_t context) {
  if (g_contexts <= 0) return Invalid;
  g_current.push_back(static_cast<int>(context - 100));
  return Good;
}
EXPORTED Code cuCtxPopCurrent_v2(intptr_t*) { return g_current.pop_back(), Good; }
EXPORTED Code cuMemGetInfo_v2(size_t* free, size_t* total) { return *free = 90, *total = 100, Good; }
EXPORTED Code cuMemGetAllocationGranularity(size_t* unit, const void*, int) { return *unit = size_t{2} << 20, Good; }
EXPORTED Code cuMemCreate(Address* allocation, size_t bytes, const void*, Address) {
  const int fd = ::memfd_create("device", MFD_CLOEXEC);
  if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(bytes)) != 0) return 2;
  *allocation = static_cast<Address>(fd);
  ++g_allocated;
  return Good;
}
EXPORTED Code cuMemRelease(Address allocation) {
  ++g_released;
  return ::close(static_cast<int>(allocation)) == 0 ? Good : Invalid;
}
EXPORTED Code cuMemExportToShareableHandle(int* out, Address allocation, int, Address) {
  *out = ::dup(static_cast<int>(allocation));
  return *out < 0 ? Invalid : Good;
}
EXPORTED Code cuMemAddressReserve(Address* out, size_t bytes, size_t, Address, Address) {
  void* const base = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *out = reinterpret_cast<Address>(base);
  return base == MAP_FAILED ? 2 : Good;
}
EXPORTED Code cuMemAddressFree(Address at, size_t bytes) {
  return ::munmap(reinterpret_cast<void*>(at), bytes) == 0 ? Good : Invalid;
}
EXPORTED Code cuMemMap(Address at, size_t bytes, size_t, Address allocation, Address) {
  const int fd = static_cast<int>(allocation);
  if (::mmap(reinterpret_cast<void*>(at), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
    return 2;
  const std::lock_guard lock(g_mutex);
  g_mapped[at] = {bytes, {}};
  return Good;
}
EXPORTED Code cuMemUnmap(Address at, size_t) {
  const std::lock_guard lock(g_mutex);
  return g_mapped.erase(at) == 1 ? Good : Invalid;
}
EXPORTED Code cuMemSetAccess(Address at, size_t, const Access* access, size_t n) {
  const std::lock_guard lock(g_mutex);
  const auto it = g_mapped.find(at);
  if (it == g_mapped.end()) return Invalid;
  for (size_t i = 0; i < n; ++i) it->second.may.insert(access[i].device);
  return Good;
}
EXPORTED Code cuStreamCreate(intptr_t* stream, unsigned) { return *stream = 7, Good; }
EXPORTED Code cuStreamDestroy_v2(intptr_t) { return Good; }
EXPORTED Code cuStreamSynchronize(intptr_t) { return Good; }
EXPORTED Code cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, intptr_t) {
  if (!reaches(to, bytes) || !reaches(from, bytes)) return Invalid;
  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  ++g_copied;
  return Good;
}
