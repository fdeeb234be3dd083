#include "transport/moves/peer_memory.h"

#include <CL/cl_ext.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace gt::moves {
namespace {

constexpr cl_device_info DeviceUuid = 0x106A;           // CL_DEVICE_UUID_KHR
constexpr cl_mem_properties OpaqueDescriptor = 0x2060;  // CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR
constexpr int AsDescriptor = 1;                         // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

bool imports_memory(const MoveEnd& end) {
  size_t bytes = 0;
  if (end.cl.clGetDeviceInfo(end.device, CL_DEVICE_EXTENSIONS, 0, nullptr, &bytes) != CL_SUCCESS) return false;
  std::string extensions(bytes, '\0');
  end.cl.clGetDeviceInfo(end.device, CL_DEVICE_EXTENSIONS, bytes, extensions.data(), nullptr);
  return extensions.find("cl_khr_external_memory_opaque_fd") != std::string::npos && end.cl.has(ClFunctions::Copies);
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

}  // namespace

std::shared_ptr<PeerDevice> PeerDevice::make(const cuda::Functions& cuda, const MoveEnd& end) {
  const cuda::Use use;
  cuda::Device number = 0;
  cuda::Context context = nullptr;
  if (!use.allowed() || !imports_memory(end) || !find_device(cuda, end, number) ||
      cuda.retain_context(&context, number) != 0)
    return nullptr;
  return std::shared_ptr<PeerDevice>(new PeerDevice(cuda, end, number, context));
}

PeerDevice::~PeerDevice() {
  const cuda::Use use;
  if (use.allowed()) cuda.release_context(number);
}

bool PeerDevice::is_roomy() const {
  constexpr size_t LeastFree = 4;  // a quarter
  size_t free = 0, total = 0;
  return cuda.memory_info(&free, &total) == 0 && free >= total / LeastFree;
}

std::unique_ptr<PeerMemory> PeerMemory::make(std::shared_ptr<PeerDevice> device, size_t bytes) {
  const cuda::Use use;
  if (!use.allowed()) return nullptr;
  const cuda::Current current(device->cuda, device->context);
  if (!current.good() || !device->is_roomy()) return nullptr;
  std::unique_ptr<PeerMemory> memory(new PeerMemory(std::move(device), bytes));
  return memory->allocate() && memory->import() ? std::move(memory) : nullptr;
}

bool PeerMemory::allocate() {
  const cuda::Functions& cuda = device_->cuda;
  cuda::AllocationProperties properties;
  properties.location.id = device_->number;
  size_t unit = 0;
  if (cuda.granularity(&unit, &properties, 0) != 0 || unit == 0) return false;
  taken_ = (bytes_ + unit - 1) / unit * unit;
  if (cuda.allocate(&allocation_, taken_, &properties, 0) != 0) return allocation_ = 0, false;
  device_->taken += taken_;
  if (cuda.reserve_address(&address_, taken_, 0, 0, 0) != 0) return address_ = 0, false;
  mapped_ = cuda.map(address_, taken_, 0, allocation_, 0) == 0;
  return mapped_ && give_access(device_->number);
}

bool PeerMemory::give_access(cuda::Device to) {
  cuda::Access access;
  access.location.id = to;
  return device_->cuda.set_access(address_, taken_, &access, 1) == 0;
}

bool PeerMemory::admit(const PeerDevice& other) {
  const MutexLock lock(mutex_);
  if (other.number == device_->number || std::find(admitted_.begin(), admitted_.end(), other.number) != admitted_.end())
    return true;
  const cuda::Use use;
  if (!use.allowed()) return false;
  const cuda::Current current(device_->cuda, device_->context);
  if (!current.good() || !give_access(other.number)) return false;
  admitted_.push_back(other.number);
  return true;
}

// A descriptor that is imported belongs to OpenCL.
bool PeerMemory::import() {
  int descriptor = -1;
  if (device_->cuda.export_handle(&descriptor, allocation_, AsDescriptor, 0) != 0) return false;
  const cl_mem_properties properties[] = {OpaqueDescriptor, static_cast<cl_mem_properties>(descriptor), 0};
  const MoveEnd& end = device_->end;
  cl_int code = CL_SUCCESS;
  mem_ = end.cl.clCreateBufferWithProperties(end.context, properties, CL_MEM_READ_WRITE, bytes_, nullptr, &code);
  if (code == CL_SUCCESS && mem_) return true;
  mem_ = nullptr;
  ::close(descriptor);
  return false;
}

PeerMemory::~PeerMemory() {
  if (allocation_) device_->taken -= taken_;
  const cuda::Use use;
  if (!use.allowed()) return;
  const cuda::Functions& cuda = device_->cuda;
  if (mem_) device_->end.cl.clReleaseMemObject(mem_);
  if (mapped_) cuda.unmap(address_, taken_);
  if (address_) cuda.free_address(address_, taken_);
  if (allocation_) cuda.release(allocation_);
}

}  // namespace gt::moves
