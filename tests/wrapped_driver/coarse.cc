// A device whose shared virtual memory is coarse-grained only, and that takes it so: a command that uses a block which
// is mapped for the host is refused (CL_INVALID_OPERATION), so is a block that is mapped or unmapped twice. What a
// kernel uses: its arguments, and the list that clSetKernelExecInfo gave it.
#include <map>
#include <mutex>
#include <vector>

#include "tests/wrapped_driver/wrapped.h"

namespace gt::wrapped {
namespace {

struct Block {
  size_t bytes;
  bool mapped;
};
std::mutex g_mutex;
std::map<const char*, Block> g_blocks;
std::map<cl_kernel, std::map<cl_uint, const void*>> g_arguments;
std::map<cl_kernel, std::vector<const void*>> g_lists;

// In the order in which commands are enqueued.
Block* block_of(const void* p) {
  const auto* const address = static_cast<const char*>(p);
  auto behind = g_blocks.upper_bound(address);
  if (behind == g_blocks.begin()) return nullptr;
  --behind;
  return address < behind->first + behind->second.bytes ? &behind->second : nullptr;
}
bool is_mapped(const void* p) {
  const Block* const block = block_of(p);
  return block && block->mapped;
}

void* CL_API_CALL alloc(cl_context context, cl_svm_mem_flags flags, size_t bytes, cl_uint alignment) {
  if (flags & (CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS)) return nullptr;
  void* const p = pocl.clSVMAlloc(context, flags, bytes, alignment);
  const std::lock_guard lock(g_mutex);
  if (p) g_blocks[static_cast<char*>(p)] = {bytes, false};
  return p;
}
void CL_API_CALL free_block(cl_context context, void* p) {
  {
    const std::lock_guard lock(g_mutex);
    g_blocks.erase(static_cast<char*>(p));
  }
  pocl.clSVMFree(context, p);
}

cl_int CL_API_CALL argument(cl_kernel kernel, cl_uint index, const void* p) {
  const std::lock_guard lock(g_mutex);
  g_arguments[kernel][index] = p;
  return pocl.clSetKernelArgSVMPointer(kernel, index, p);
}
cl_int CL_API_CALL exec_info(cl_kernel kernel, cl_kernel_exec_info what, size_t size, const void* value) {
  const std::lock_guard lock(g_mutex);
  const auto* const list = static_cast<const void* const*>(value);
  if (what == CL_KERNEL_EXEC_INFO_SVM_PTRS) g_lists[kernel].assign(list, list + size / sizeof *list);
  return pocl.clSetKernelExecInfo(kernel, what, size, value);
}
cl_int CL_API_CALL release_kernel(cl_kernel kernel) {
  const std::lock_guard lock(g_mutex);
  g_arguments.erase(kernel);
  g_lists.erase(kernel);
  return pocl.clReleaseKernel(kernel);
}

cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                          const size_t* global, const size_t* local, cl_uint n, const cl_event* list, cl_event* event) {
  {
    const std::lock_guard lock(g_mutex);
    for (const auto& [index, p] : g_arguments[kernel])
      if (is_mapped(p)) return CL_INVALID_OPERATION;
    for (const void* const p : g_lists[kernel])
      if (is_mapped(p)) return CL_INVALID_OPERATION;
  }
  return pocl.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, n, list, event);
}
cl_int CL_API_CALL copy(cl_command_queue queue, cl_bool blocking, void* to, const void* from, size_t bytes, cl_uint n,
                        const cl_event* list, cl_event* event) {
  {
    const std::lock_guard lock(g_mutex);
    if (is_mapped(to) || is_mapped(from)) return CL_INVALID_OPERATION;
  }
  return pocl.clEnqueueSVMMemcpy(queue, blocking, to, from, bytes, n, list, event);
}
cl_int CL_API_CALL fill(cl_command_queue queue, void* to, const void* pattern, size_t pattern_bytes, size_t bytes,
                        cl_uint n, const cl_event* list, cl_event* event) {
  {
    const std::lock_guard lock(g_mutex);
    if (is_mapped(to)) return CL_INVALID_OPERATION;
  }
  return pocl.clEnqueueSVMMemFill(queue, to, pattern, pattern_bytes, bytes, n, list, event);
}

bool changes(const void* p, bool to_mapped) {
  const std::lock_guard lock(g_mutex);
  Block* const block = block_of(p);
  if (!block || block->mapped == to_mapped) return false;
  block->mapped = to_mapped;
  return true;
}
cl_int CL_API_CALL map(cl_command_queue queue, cl_bool blocking, cl_map_flags flags, void* p, size_t bytes, cl_uint n,
                       const cl_event* list, cl_event* event) {
  if (!changes(p, true)) return CL_INVALID_OPERATION;
  return pocl.clEnqueueSVMMap(queue, blocking, flags, p, bytes, n, list, event);
}
cl_int CL_API_CALL unmap(cl_command_queue queue, void* p, cl_uint n, const cl_event* list, cl_event* event) {
  if (!changes(p, false)) return CL_INVALID_OPERATION;
  return pocl.clEnqueueSVMUnmap(queue, p, n, list, event);
}

cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info name, size_t size, void* value, size_t* size_ret) {
  const cl_device_svm_capabilities coarse = CL_DEVICE_SVM_COARSE_GRAIN_BUFFER;
  if (name == CL_DEVICE_SVM_CAPABILITIES) return answer(&coarse, sizeof coarse, size, value, size_ret);
  return pocl.clGetDeviceInfo(device, name, size, value, size_ret);
}

}  // namespace

void change(cl_icd_dispatch& table, cl_platform_id) {
  table.clSVMAlloc = alloc;
  table.clSVMFree = free_block;
  table.clSetKernelArgSVMPointer = argument;
  table.clSetKernelExecInfo = exec_info;
  table.clReleaseKernel = release_kernel;
  table.clEnqueueNDRangeKernel = launch;
  table.clEnqueueSVMMemcpy = copy;
  table.clEnqueueSVMMemFill = fill;
  table.clEnqueueSVMMap = map;
  table.clEnqueueSVMUnmap = unmap;
  table.clGetDeviceInfo = device_info;
}

}  // namespace gt::wrapped
