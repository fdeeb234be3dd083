// PoCL with unified shared memory: its shared virtual memory, which on a CPU is the host's, in the words of
// cl_intel_unified_shared_memory.
#include <CL/cl_ext.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "tests/wrapped_driver/wrapped.h"

namespace gt::wrapped {
namespace {

struct Block {
  size_t bytes;
  cl_uint type;
  cl_device_id device;
  cl_ulong flags;
};
std::mutex mutex;
std::map<const char*, Block> blocks;
std::set<cl_command_queue> queues;

// USM_MOST: so large allocations may be, whatever memory there is. Large ones only take what is used of them.
constexpr size_t Huge = size_t{1} << 36;
cl_ulong said_most() {
  const char* const said = std::getenv("USM_MOST");
  return said ? std::strtoull(said, nullptr, 10) : 0;
}
void* reserved(size_t bytes) {
  void* const p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

void* refuse(cl_int* code, cl_int why) {
  if (code) *code = why;
  return nullptr;
}

void* allocate(cl_context context, cl_device_id device, cl_uint type, const cl_mem_properties_intel* list, size_t bytes,
               cl_uint alignment, cl_int* code) {
  constexpr cl_ulong Known = CL_MEM_ALLOC_WRITE_COMBINED_INTEL;
  cl_ulong most = 0, flags = 0;
  if (!context) return refuse(code, CL_INVALID_CONTEXT);
  if (!device && type == CL_MEM_TYPE_DEVICE_INTEL) return refuse(code, CL_INVALID_DEVICE);
  for (; list && *list; list += 2) {
    if (list[0] != CL_MEM_ALLOC_FLAGS_INTEL || (list[1] & ~Known) != 0) return refuse(code, CL_INVALID_PROPERTY);
    flags = list[1];
  }
  cl_device_id first = nullptr;
  pocl.clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof first, &first, nullptr);
  pocl.clGetDeviceInfo(first, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, nullptr);
  most = std::max(most, said_most());
  if (bytes == 0 || bytes > most) return refuse(code, CL_INVALID_BUFFER_SIZE);
  if ((alignment & (alignment - 1)) != 0) return refuse(code, CL_INVALID_VALUE);
  const bool is_huge = bytes >= Huge;
  void* const p =
      is_huge ? reserved(bytes) : pocl.clSVMAlloc(context, CL_MEM_READ_WRITE, bytes, std::min(alignment, 128u));
  if (!p) return refuse(code, CL_OUT_OF_RESOURCES);
  const std::lock_guard lock(mutex);
  blocks[static_cast<const char*>(p)] = {bytes, type, device, flags};
  if (code) *code = CL_SUCCESS;
  return p;
}

void* CL_API_CALL host(cl_context context, const cl_mem_properties_intel* list, size_t bytes, cl_uint alignment,
                       cl_int* code) {
  return allocate(context, nullptr, CL_MEM_TYPE_HOST_INTEL, list, bytes, alignment, code);
}
void* CL_API_CALL device(cl_context context, cl_device_id of, const cl_mem_properties_intel* list, size_t bytes,
                         cl_uint alignment, cl_int* code) {
  return allocate(context, of, CL_MEM_TYPE_DEVICE_INTEL, list, bytes, alignment, code);
}
void* CL_API_CALL shared(cl_context context, cl_device_id of, const cl_mem_properties_intel* list, size_t bytes,
                         cl_uint alignment, cl_int* code) {
  return allocate(context, of, CL_MEM_TYPE_SHARED_INTEL, list, bytes, alignment, code);
}

// End: its block's; none: blocks.end().
std::map<const char*, Block>::const_iterator find(const void* p) {
  const auto behind = blocks.upper_bound(static_cast<const char*>(p));
  if (behind == blocks.begin()) return blocks.end();
  const auto at = std::prev(behind);
  return static_cast<const char*>(p) < at->first + at->second.bytes ? at : blocks.end();
}

cl_int CL_API_CALL free_memory(cl_context context, void* p) {
  if (!context) return CL_INVALID_CONTEXT;
  if (!p) return CL_SUCCESS;
  size_t bytes = 0;
  {
    const std::lock_guard lock(mutex);
    const auto block = blocks.extract(static_cast<const char*>(p));
    if (!block) return CL_INVALID_VALUE;
    bytes = block.mapped().bytes;
  }
  bytes >= Huge ? void(::munmap(p, bytes)) : pocl.clSVMFree(context, p);
  return CL_SUCCESS;
}

cl_int CL_API_CALL blocking_free(cl_context context, void* p) {
  std::set<cl_command_queue> all;
  {
    const std::lock_guard lock(mutex);
    all = queues;
  }
  for (cl_command_queue queue : all) pocl.clFinish(queue);
  return free_memory(context, p);
}

cl_int CL_API_CALL info(cl_context context, const void* p, cl_mem_info_intel name, size_t size, void* value,
                        size_t* size_ret) {
  if (!context) return CL_INVALID_CONTEXT;
  const std::lock_guard lock(mutex);
  const auto at = find(p);
  const bool known = at != blocks.end();
  const Block block = known ? at->second : Block{0, CL_MEM_TYPE_UNKNOWN_INTEL, nullptr, 0};
  const void* const base = known ? at->first : nullptr;
  switch (name) {
    case CL_MEM_ALLOC_TYPE_INTEL:
      return answer(&block.type, sizeof block.type, size, value, size_ret);
    case CL_MEM_ALLOC_BASE_PTR_INTEL:
      return answer(&base, sizeof base, size, value, size_ret);
    case CL_MEM_ALLOC_SIZE_INTEL:
      return answer(&block.bytes, sizeof block.bytes, size, value, size_ret);
    case CL_MEM_ALLOC_DEVICE_INTEL:
      return answer(&block.device, sizeof block.device, size, value, size_ret);
    case CL_MEM_ALLOC_FLAGS_INTEL:
      return answer(&block.flags, sizeof block.flags, size, value, size_ret);
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL set_pointer(cl_kernel kernel, cl_uint index, const void* p) {
  return pocl.clSetKernelArgSVMPointer(kernel, index, p);
}

// PoCL never ends a command that is enqueued behind an event that has failed.
bool any_failed(cl_uint n, const cl_event* list) {
  return std::any_of(list, list + (list ? n : 0), [](cl_event event) {
    cl_int status = 0;
    pocl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    return status < 0;
  });
}

cl_int CL_API_CALL copy(cl_command_queue queue, cl_bool blocking, void* to, const void* from, size_t bytes, cl_uint n,
                        const cl_event* list, cl_event* event) {
  if (!queue) return CL_INVALID_COMMAND_QUEUE;
  if (any_failed(n, list)) return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  if (bytes == 0) return pocl.clEnqueueMarkerWithWaitList(queue, n, list, event);
  return pocl.clEnqueueSVMMemcpy(queue, blocking, to, from, bytes, n, list, event);
}

cl_int CL_API_CALL fill(cl_command_queue queue, void* p, const void* pattern, size_t pattern_size, size_t bytes,
                        cl_uint n, const cl_event* list, cl_event* event) {
  if (!pattern) return CL_INVALID_VALUE;
  return pocl.clEnqueueSVMMemFill(queue, p, pattern, pattern_size, bytes, n, list, event);
}

cl_int CL_API_CALL set(cl_command_queue queue, void* p, cl_int value, size_t bytes, cl_uint n, const cl_event* list,
                       cl_event* event) {
  const auto byte = static_cast<unsigned char>(value);
  return fill(queue, p, &byte, 1, bytes, n, list, event);
}

cl_int CL_API_CALL migrate(cl_command_queue queue, const void* p, size_t bytes, cl_mem_migration_flags flags, cl_uint n,
                           const cl_event* list, cl_event* event) {
  if (!p || flags > 3) return CL_INVALID_VALUE;
  return pocl.clEnqueueSVMMigrateMem(queue, 1, &p, &bytes, flags, n, list, event);
}

cl_int CL_API_CALL advise(cl_command_queue queue, const void* p, size_t, cl_mem_advice_intel, cl_uint n,
                          const cl_event* list, cl_event* event) {
  return p ? pocl.clEnqueueMarkerWithWaitList(queue, n, list, event) : CL_INVALID_VALUE;
}

void* CL_API_CALL function(cl_platform_id platform, const char* name) {
  const struct {
    const char* name;
    void* function;
  } all[] = {{"clHostMemAllocINTEL", reinterpret_cast<void*>(&host)},
             {"clDeviceMemAllocINTEL", reinterpret_cast<void*>(&device)},
             {"clSharedMemAllocINTEL", reinterpret_cast<void*>(&shared)},
             {"clMemFreeINTEL", reinterpret_cast<void*>(&free_memory)},
             {"clMemBlockingFreeINTEL", reinterpret_cast<void*>(&blocking_free)},
             {"clGetMemAllocInfoINTEL", reinterpret_cast<void*>(&info)},
             {"clSetKernelArgMemPointerINTEL", reinterpret_cast<void*>(&set_pointer)},
             {"clEnqueueMemcpyINTEL", reinterpret_cast<void*>(&copy)},
             {"clEnqueueMemFillINTEL", reinterpret_cast<void*>(&fill)},
             {"clEnqueueMemsetINTEL", reinterpret_cast<void*>(&set)},
             {"clEnqueueMigrateMemINTEL", reinterpret_cast<void*>(&migrate)},
             {"clEnqueueMemAdviseINTEL", reinterpret_cast<void*>(&advise)}};
  for (const auto& known : all)
    if (std::strcmp(known.name, name) == 0) return known.function;
  return pocl.clGetExtensionFunctionAddressForPlatform(platform, name);
}

cl_int CL_API_CALL exec_info(cl_kernel kernel, cl_kernel_exec_info name, size_t size, const void* value) {
  if (name == CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL) return value && size % 8 == 0 ? CL_SUCCESS : CL_INVALID_VALUE;
  if (name >= CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL && name < CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL)
    return value ? CL_SUCCESS : CL_INVALID_VALUE;
  return pocl.clSetKernelExecInfo(kernel, name, size, value);
}

cl_int CL_API_CALL event_info(cl_event event, cl_event_info name, size_t size, void* value, size_t* size_ret) {
  const cl_int code = pocl.clGetEventInfo(event, name, size, value, size_ret);
  if (name != CL_EVENT_COMMAND_TYPE || code != CL_SUCCESS || !value) return code;
  auto& type = *static_cast<cl_command_type*>(value);
  if (type == CL_COMMAND_SVM_MEMCPY) type = CL_COMMAND_MEMCPY_INTEL;
  if (type == CL_COMMAND_SVM_MEMFILL) type = CL_COMMAND_MEMFILL_INTEL;
  return code;
}

cl_int CL_API_CALL device_info(cl_device_id of, cl_device_info name, size_t size, void* value, size_t* size_ret) {
  if (name >= CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL && name <= CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL) {
    const cl_ulong all = 15;
    return answer(&all, sizeof all, size, value, size_ret);
  }
  if (const cl_ulong most = said_most();
      most != 0 && (name == CL_DEVICE_MAX_MEM_ALLOC_SIZE || name == CL_DEVICE_GLOBAL_MEM_SIZE))
    return answer(&most, sizeof most, size, value, size_ret);
  if (name != CL_DEVICE_EXTENSIONS) return pocl.clGetDeviceInfo(of, name, size, value, size_ret);
  char text[4096] = "";
  pocl.clGetDeviceInfo(of, name, sizeof text, text, nullptr);
  const std::string more = std::string(text) + " cl_intel_unified_shared_memory";
  return answer(more.c_str(), more.size() + 1, size, value, size_ret);
}

cl_command_queue CL_API_CALL queue(cl_context context, cl_device_id on, cl_command_queue_properties properties,
                                   cl_int* code) {
  cl_command_queue made = pocl.clCreateCommandQueue(context, on, properties, code);
  const std::lock_guard lock(mutex);
  if (made) queues.insert(made);
  return made;
}

cl_int CL_API_CALL release_queue(cl_command_queue of) {
  cl_uint count = 0;
  {
    const std::lock_guard lock(mutex);
    if (of && pocl.clGetCommandQueueInfo(of, CL_QUEUE_REFERENCE_COUNT, sizeof count, &count, nullptr) == CL_SUCCESS &&
        count == 1)
      queues.erase(of);
  }
  return pocl.clReleaseCommandQueue(of);
}

}  // namespace

void change(cl_icd_dispatch& table, cl_platform_id) {
  table.clGetExtensionFunctionAddressForPlatform = function;
  table.clSetKernelExecInfo = exec_info;
  table.clGetEventInfo = event_info;
  table.clGetDeviceInfo = device_info;
  table.clCreateCommandQueue = queue;
  table.clReleaseCommandQueue = release_queue;
}

}  // namespace gt::wrapped
