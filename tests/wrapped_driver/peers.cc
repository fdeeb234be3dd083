// Devices as if NVIDIA's drivers drove them: OpenCL imports memory of CUDA's, and CUDA's copies go from device to
// device while transfers through the host take their time. Loaded as an ICD and, as libcuda.so.1, as CUDA
// (fake_cuda.h).
//
// PEER_DRIVER_COUNTS: a file that says at exit how much was allocated, let go of and copied.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/fake_cl/fake_cuda.h"
#include "tests/wrapped_driver/wrapped.h"

namespace gt::wrapped {
namespace {

std::vector<cl_device_id> g_devices;

cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info name, size_t size, void* value, size_t* size_ret) {
  constexpr cl_device_info Uuid = 0x106A;
  if (name == Uuid) {
    std::array<char, 16> uuid{};
    uuid[3] = static_cast<char>(std::find(g_devices.begin(), g_devices.end(), device) - g_devices.begin());
    return answer(uuid.data(), uuid.size(), size, value, size_ret);
  }
  if (name != CL_DEVICE_EXTENSIONS) return pocl.clGetDeviceInfo(device, name, size, value, size_ret);
  char text[8192] = {};
  const cl_int code = pocl.clGetDeviceInfo(device, name, sizeof text - 1, text, nullptr);
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
    return pocl.clCreateBufferWithProperties(context, properties, flags, size, host, code);
  const int descriptor = static_cast<int>(properties[1]);
  void* const base = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  ::close(descriptor);
  const cl_mem mem = pocl.clCreateBuffer(context, flags | CL_MEM_USE_HOST_PTR, size, base, code);
  if (mem) pocl.clSetMemObjectDestructorCallback(mem, unmap, new Mapping{base, size});
  return mem;
}

// Such memory has no parts: NVIDIA's driver lets some be made, but not be used.
cl_mem CL_API_CALL create_sub_buffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type, const void* info,
                                     cl_int* code) {
  cl_mem_flags has = 0;
  pocl.clGetMemObjectInfo(buffer, CL_MEM_FLAGS, sizeof has, &has, nullptr);
  if (!(has & CL_MEM_USE_HOST_PTR)) return pocl.clCreateSubBuffer(buffer, flags, type, info, code);
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
  return pocl.clEnqueueReadBuffer(queue, mem, blocking, offset, size, to, n, list, event);
}

cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t offset, size_t size,
                                const void* from, cl_uint n, const cl_event* list, cl_event* event) {
  take_time(size);
  return pocl.clEnqueueWriteBuffer(queue, mem, blocking, offset, size, from, n, list, event);
}

struct Counts {
  ~Counts() {
    const char* const path = std::getenv("PEER_DRIVER_COUNTS");
    std::FILE* const file = path ? std::fopen(path, "w") : nullptr;
    if (!file) return;
    const fake::Cuda& cuda = fake::cuda();
    std::fprintf(file, "{\"allocated\": %d, \"released\": %d, \"copied\": %d}\n", cuda.allocated.load(),
                 cuda.released.load(), cuda.copies.load());
    std::fclose(file);
  }
} g_counts;

}  // namespace

void change(cl_icd_dispatch& table, cl_platform_id platform) {
  cl_uint count = 0;
  pocl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
  g_devices.resize(count);
  pocl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, g_devices.data(), nullptr);
  table.clGetDeviceInfo = device_info;
  table.clCreateBufferWithProperties = create_buffer;
  table.clCreateSubBuffer = create_sub_buffer;
  table.clEnqueueReadBuffer = read_buffer;
  table.clEnqueueWriteBuffer = write_buffer;
}

}  // namespace gt::wrapped
