// Allocations: what is asked for, what it is made of, what is told of it.
#include <algorithm>
#include <cstring>

#include "transport/usm/emulated_usm.h"

namespace gt::usm {
namespace {

constexpr cl_uint LargestAlignment = 128;  // that every driver's SVM has: that of its largest type

std::vector<cl_device_id> devices_of(const ClFunctions& cl, cl_context context) {
  size_t n = 0;
  if (cl.clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, nullptr, &n) != CL_SUCCESS) return {};
  std::vector<cl_device_id> devices(n / sizeof(cl_device_id));
  if (cl.clGetContextInfo(context, CL_CONTEXT_DEVICES, n, devices.data(), nullptr) != CL_SUCCESS) return {};
  return devices;
}

template <class T>
T device_info(const ClFunctions& cl, cl_device_id device, cl_device_info what) {
  T value{};
  return cl.clGetDeviceInfo(device, what, sizeof value, &value, nullptr) == CL_SUCCESS ? value : T{};
}

// CL_SUCCESS, and the flags that the properties give.
cl_int read_properties(const cl_mem_properties_intel* properties, Memory memory, cl_mem_alloc_flags_intel* flags) {
  constexpr cl_mem_alloc_flags_intel Device = CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL,
                                     Host = CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL;
  cl_mem_alloc_flags_intel allowed = CL_MEM_ALLOC_WRITE_COMBINED_INTEL;
  if (memory == Memory::Shared) allowed |= Device | Host;
  for (; properties && properties[0] != 0; properties += 2) {
    if (properties[0] != CL_MEM_ALLOC_FLAGS_INTEL) return CL_INVALID_PROPERTY;
    *flags = properties[1];
    if ((*flags & ~allowed) != 0 || (*flags & (Device | Host)) == (Device | Host)) return CL_INVALID_PROPERTY;
  }
  return CL_SUCCESS;
}

template <class T>
cl_int answer(T found, size_t size, void* value, size_t* size_ret) {
  if (value && size < sizeof found) return CL_INVALID_VALUE;
  if (value) std::memcpy(value, &found, sizeof found);
  if (size_ret) *size_ret = sizeof found;
  return CL_SUCCESS;
}

}  // namespace

cl_int EmulatedUsm::check_allocation(Memory memory, cl_context context, cl_device_id device,
                                     const cl_mem_properties_intel* properties, size_t size, cl_uint alignment,
                                     Block& block) const {
  const std::vector<cl_device_id> devices = context ? devices_of(cl_, context) : std::vector<cl_device_id>();
  if (devices.empty()) return CL_INVALID_CONTEXT;
  const bool has_device = memory == Memory::Device || (memory == Memory::Shared && device);
  if (has_device && std::find(devices.begin(), devices.end(), device) == devices.end()) return CL_INVALID_DEVICE;
  bool fine = true;
  cl_ulong most = UINT64_MAX;
  for (const cl_device_id d : devices) {
    const auto svm = device_info<cl_device_svm_capabilities>(cl_, d, CL_DEVICE_SVM_CAPABILITIES);
    if (!(svm & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER)) return CL_INVALID_OPERATION;
    fine = fine && (svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) != 0;
    if (!has_device || d == device) most = std::min(most, device_info<cl_ulong>(cl_, d, CL_DEVICE_MAX_MEM_ALLOC_SIZE));
  }
  if (const cl_int wrong = read_properties(properties, memory, &block.flags); wrong != CL_SUCCESS) return wrong;
  if (size == 0 || size > most) return CL_INVALID_BUFFER_SIZE;
  if ((alignment & (alignment - 1)) != 0) return CL_INVALID_VALUE;
  block.memory = memory;
  block.is_fine = memory != Memory::Device && fine && host_ == Host::Touches;
  block.is_mapped = memory != Memory::Device && !fine && host_ == Host::Touches;
  block.context = context;
  block.device = has_device ? device : nullptr;
  block.size = size;
  block.svm_size = size + (alignment > LargestAlignment ? alignment - LargestAlignment : 0);
  return CL_SUCCESS;
}

void* EmulatedUsm::allocate(Memory memory, cl_context context, cl_device_id device,
                            const cl_mem_properties_intel* properties, size_t size, cl_uint alignment, cl_int* error) {
  Block block{};
  cl_int code = check_allocation(memory, context, device, properties, size, alignment, block);
  char* p = nullptr;
  if (code == CL_SUCCESS) {
    const cl_svm_mem_flags flags = CL_MEM_READ_WRITE | (block.is_fine ? CL_MEM_SVM_FINE_GRAIN_BUFFER : 0);
    block.svm =
        static_cast<char*>(cl_.clSVMAlloc(context, flags, block.svm_size, std::min(alignment, LargestAlignment)));
    if (!block.svm) code = CL_OUT_OF_RESOURCES;
    if (block.svm && block.is_mapped) code = map_first(block, devices_of(cl_, context)[0]);
    if (block.svm && code != CL_SUCCESS) cl_.clSVMFree(context, block.svm);
  }
  if (code == CL_SUCCESS) {
    const uintptr_t step = std::max<uintptr_t>(alignment, 1), at = reinterpret_cast<uintptr_t>(block.svm);
    p = block.svm + ((at + step - 1) / step * step - at);
    const MutexLock lock(mutex_);
    blocks_[reinterpret_cast<uintptr_t>(p)] = block;
    ++generation_;
    used_.store(true, std::memory_order_release);
  }
  if (error) *error = code;
  return p;
}

cl_command_queue EmulatedUsm::a_queue(cl_context context, cl_device_id device, cl_int* error) const {
  return cl_.clCreateCommandQueue(context, device, 0, error);
}

// With a queue of its own, for no longer than that: it would hold the context.
cl_int EmulatedUsm::map_first(Block& block, cl_device_id device) const {
  cl_int code = CL_SUCCESS;
  const cl_command_queue queue = a_queue(block.context, device, &code);
  if (!queue) return code;
  constexpr cl_map_flags Both = CL_MAP_READ | CL_MAP_WRITE;
  code = cl_.clEnqueueSVMMap(queue, CL_TRUE, Both, block.svm, block.svm_size, 0, nullptr, nullptr);
  cl_.clReleaseCommandQueue(queue);
  return code;
}

cl_int EmulatedUsm::unmap_last(const Block& block) const {
  cl_int code = CL_SUCCESS;
  const std::vector<cl_device_id> devices = devices_of(cl_, block.context);
  if (devices.empty()) return CL_INVALID_CONTEXT;
  const cl_command_queue queue = a_queue(block.context, devices[0], &code);
  if (!queue) return code;
  code = cl_.clEnqueueSVMUnmap(queue, block.svm, block.map ? 1 : 0, block.map ? &block.map : nullptr, nullptr);
  if (code == CL_SUCCESS) code = cl_.clFinish(queue);
  cl_.clReleaseCommandQueue(queue);
  return code;
}

cl_int EmulatedUsm::free(cl_context context, void* p, bool waits) {
  if (!context || devices_of(cl_, context).empty()) return CL_INVALID_CONTEXT;
  if (!p) return CL_SUCCESS;
  Block block{};
  {
    const MutexLock lock(mutex_);
    const auto found = blocks_.find(reinterpret_cast<uintptr_t>(p));
    if (found == blocks_.end() || found->second.context != context) return CL_INVALID_VALUE;
    block = found->second;
    blocks_.erase(found);
    ++generation_;
  }
  if (waits) finish_queues(context);
  if (block.is_mapped) (void)unmap_last(block);  // it is freed all the same
  if (block.map) cl_.clReleaseEvent(block.map);
  cl_.clSVMFree(context, block.svm);
  return CL_SUCCESS;
}

void EmulatedUsm::finish_queues(cl_context context) {
  std::vector<cl_command_queue> queues;
  {
    const MutexLock lock(mutex_);
    for (const auto& [queue, about] : queues_) {
      if (about.context == context && cl_.clRetainCommandQueue(queue) == CL_SUCCESS) queues.push_back(queue);
    }
  }
  for (const cl_command_queue queue : queues) {
    cl_.clFinish(queue);
    cl_.clReleaseCommandQueue(queue);
  }
}

cl_int EmulatedUsm::info(cl_context context, const void* p, cl_mem_info_intel what, size_t size, void* value,
                         size_t* size_ret) {
  if (!context || devices_of(cl_, context).empty()) return CL_INVALID_CONTEXT;
  const MutexLock lock(mutex_);
  const auto found = holding(p);
  const Block* const block = found != blocks_.end() && found->second.context == context ? &found->second : nullptr;
  constexpr cl_unified_shared_memory_type_intel Types[] = {CL_MEM_TYPE_HOST_INTEL, CL_MEM_TYPE_DEVICE_INTEL,
                                                           CL_MEM_TYPE_SHARED_INTEL};
  const cl_unified_shared_memory_type_intel type =
      block ? Types[static_cast<size_t>(block->memory)] : CL_MEM_TYPE_UNKNOWN_INTEL;
  switch (what) {
    case CL_MEM_ALLOC_TYPE_INTEL:
      return answer(type, size, value, size_ret);
    case CL_MEM_ALLOC_BASE_PTR_INTEL:
      return answer(block ? reinterpret_cast<void*>(found->first) : nullptr, size, value, size_ret);
    case CL_MEM_ALLOC_SIZE_INTEL:
      return answer(block ? block->size : size_t{0}, size, value, size_ret);
    case CL_MEM_ALLOC_DEVICE_INTEL:
      return answer(block ? block->device : nullptr, size, value, size_ret);
    case CL_MEM_ALLOC_FLAGS_INTEL:
      return answer(block ? block->flags : cl_mem_alloc_flags_intel{0}, size, value, size_ret);
    default:
      return CL_INVALID_VALUE;
  }
}

}  // namespace gt::usm
