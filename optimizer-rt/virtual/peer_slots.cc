#include "optimizer-rt/virtual/peer_slots.h"

#include <CL/cl_ext.h>
#include <unistd.h>

#include <cstring>
#include <string>

namespace gt::virt {
namespace {

using Shape = wire::Part::Shape;

constexpr cl_device_info DeviceUuid = 0x106A;                // CL_DEVICE_UUID_KHR
constexpr cl_mem_properties OpaqueDescriptor = 0x2060;       // CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR
constexpr int AsDescriptor = 1;                              // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
constexpr unsigned NonBlocking = 1;                          // CU_STREAM_NON_BLOCKING: not behind the program's CUDA

bool imports_memory(const MoveEnd& end) {
  size_t bytes = 0;
  if (end.cl.clGetDeviceInfo(end.device, CL_DEVICE_EXTENSIONS, 0, nullptr, &bytes) != CL_SUCCESS) return false;
  std::string extensions(bytes, '\0');
  end.cl.clGetDeviceInfo(end.device, CL_DEVICE_EXTENSIONS, bytes, extensions.data(), nullptr);
  return extensions.find("cl_khr_external_memory_opaque_fd") != std::string::npos && end.cl.has_copies();
}

// CUDA's number of an OpenCL device.
bool find_device(const cuda::Functions& cuda, const MoveEnd& end, cuda::Device& found) {
  cuda::Uuid wanted{}, has{};
  int count = 0;
  if (end.cl.clGetDeviceInfo(end.device, DeviceUuid, sizeof wanted, &wanted, nullptr) != CL_SUCCESS ||
      cuda.device_count(&count) != 0)
    return false;
  for (int i = 0; i < count; ++i)
    if (cuda.device(&found, i) == 0 && cuda.uuid(&has, found) == 0 && std::memcmp(&has, &wanted, sizeof has) == 0)
      return true;
  return false;
}

const size_t* sizes(const std::array<uint64_t, 3>& a) { return reinterpret_cast<const size_t*>(a.data()); }

}  // namespace

std::unique_ptr<PeerSlots> PeerSlots::make(const cuda::Functions& cuda, const MoveEnd& from, const MoveEnd& to,
                                           size_t bytes) {
  if (!imports_memory(from) || !imports_memory(to)) return nullptr;
  std::unique_ptr<PeerSlots> slots(new PeerSlots(cuda, from, to, bytes));
  return slots->open() ? std::move(slots) : nullptr;
}

bool PeerSlots::open() {
  for (Half& half : halves_)
    if (!enter(half)) return false;
  const cuda::Current current(cuda_, halves_[0].context);
  if (!current.good()) return false;
  for (Half& half : halves_)
    if (!allocate(half) || !import(half)) return false;
  if (cuda_.create_stream(&stream_, NonBlocking) == 0) return true;
  stream_ = nullptr;
  return false;
}

// The program may need what is left of the memory.
bool PeerSlots::enter(Half& half) {
  constexpr size_t LeastFree = 4;  // a quarter
  if (!find_device(cuda_, half.end, half.device)) return false;
  if (cuda_.retain_context(&half.context, half.device) != 0) return half.context = nullptr, false;
  const cuda::Current current(cuda_, half.context);
  size_t free = 0, total = 0;
  return current.good() && cuda_.memory_info(&free, &total) == 0 && free >= total / LeastFree;
}

// Mapped for both devices.
bool PeerSlots::allocate(Half& half) {
  cuda::AllocationProperties properties;
  properties.location.id = half.device;
  size_t unit = 0;
  if (cuda_.granularity(&unit, &properties, 0) != 0 || unit == 0 || bytes_ % unit != 0) return false;
  if (cuda_.allocate(&half.allocation, bytes_, &properties, 0) != 0) return false;
  if (cuda_.reserve_address(&half.address, bytes_, 0, 0, 0) != 0) return false;
  half.mapped = cuda_.map(half.address, bytes_, 0, half.allocation, 0) == 0;
  cuda::Access access[2];
  for (int i = 0; i < 2; ++i) access[i].location.id = halves_[i].device;
  const size_t devices = access[0].location.id == access[1].location.id ? 1 : 2;
  return half.mapped && cuda_.set_access(half.address, bytes_, access, devices) == 0;
}

// A descriptor that is imported belongs to OpenCL.
bool PeerSlots::import(Half& half) {
  int descriptor = -1;
  if (cuda_.export_handle(&descriptor, half.allocation, AsDescriptor, 0) != 0) return false;
  const cl_mem_properties properties[] = {OpaqueDescriptor, static_cast<cl_mem_properties>(descriptor), 0};
  cl_int code = CL_SUCCESS;
  half.mem = half.end.cl.clCreateBufferWithProperties(half.end.context, properties, CL_MEM_READ_WRITE, bytes_, nullptr,
                                                      &code);
  if (code == CL_SUCCESS && half.mem) return true;
  half.mem = nullptr;
  ::close(descriptor);
  return false;
}

PeerSlots::~PeerSlots() {
  const cuda::Use use;
  if (!use.allowed()) return;
  if (stream_) {
    const cuda::Current current(cuda_, halves_[0].context);
    cuda_.destroy_stream(stream_);
  }
  for (Half& half : halves_) close(half);
}

void PeerSlots::close(Half& half) {
  if (half.mem) half.end.cl.clReleaseMemObject(half.mem);
  if (half.mapped) cuda_.unmap(half.address, bytes_);
  if (half.address) cuda_.free_address(half.address, bytes_);
  if (half.allocation) cuda_.release(half.allocation);
  if (half.context) cuda_.release_context(half.device);
}

cl_int PeerSlots::fill(cl_command_queue queue, cl_mem from, const wire::Part& part, size_t offset, cl_event* event) {
  const exec::Cl& cl = halves_[0].end.cl;
  if (part.shape == Shape::Image)
    return cl.clEnqueueCopyImageToBuffer(queue, from, halves_[0].mem, sizes(part.origin), sizes(part.region), offset, 0,
                                         nullptr, event);
  return cl.clEnqueueCopyBuffer(queue, from, halves_[0].mem, part.origin[0], offset, part.region[0], 0, nullptr, event);
}

cl_int PeerSlots::hop(size_t offset, size_t bytes) {
  const cuda::Use use;
  if (!use.allowed()) return CL_OUT_OF_RESOURCES;
  const cuda::Current current(cuda_, halves_[0].context);
  const bool good = current.good() &&
                    cuda_.copy(halves_[1].address + offset, halves_[0].address + offset, bytes, stream_) == 0 &&
                    cuda_.synchronize(stream_) == 0;
  return good ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
}

cl_int PeerSlots::drain(cl_command_queue queue, cl_mem to, const wire::Part& part, size_t offset, cl_event* event) {
  const exec::Cl& cl = halves_[1].end.cl;
  if (part.shape == Shape::Image)
    return cl.clEnqueueCopyBufferToImage(queue, halves_[1].mem, to, offset, sizes(part.origin), sizes(part.region), 0,
                                         nullptr, event);
  return cl.clEnqueueCopyBuffer(queue, halves_[1].mem, to, offset, part.origin[0], part.region[0], 0, nullptr, event);
}

}  // namespace gt::virt
