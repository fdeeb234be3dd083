// Kernels and commands: which memory they use, and what is done about it before and after.
#include <algorithm>

#include "transport/usm/emulated_usm.h"

namespace gt::usm {

EmulatedUsm::Blocks::iterator EmulatedUsm::holding(const void* p) {
  const auto address = reinterpret_cast<uintptr_t>(p);
  auto behind = blocks_.upper_bound(address);
  if (behind == blocks_.begin()) return blocks_.end();
  --behind;
  return address - behind->first < behind->second.size ? behind : blocks_.end();
}

void EmulatedUsm::add_use(const void* p, Uses& uses) {
  const auto found = holding(p);
  if (found == blocks_.end() || !found->second.is_mapped) return;
  if (std::find(uses.begin(), uses.end(), found->first) == uses.end()) uses.push_back(found->first);
}

EmulatedUsm::Kernel& EmulatedUsm::kernel_of(cl_kernel handle) {
  Kernel& kernel = kernels_[handle];
  if (!kernel.context) cl_.clGetKernelInfo(handle, CL_KERNEL_CONTEXT, sizeof kernel.context, &kernel.context, nullptr);
  return kernel;
}

cl_int EmulatedUsm::set_argument(cl_kernel handle, cl_uint index, const void* p) {
  const cl_int code = cl_.clSetKernelArgSVMPointer(handle, index, p);
  if (code != CL_SUCCESS) return code;
  const MutexLock lock(mutex_);
  kernel_of(handle).arguments[index] = p;
  return CL_SUCCESS;
}

namespace {

// A context has devices of one platform, so of one driver.
bool are_ours(const ClFunctions& cl, cl_kernel kernel) {
  cl_context context = nullptr;
  cl_uint count = 0;
  cl.clGetKernelInfo(kernel, CL_KERNEL_CONTEXT, sizeof context, &context, nullptr);
  if (!context) return true;  // it is no kernel
  cl.clGetContextInfo(context, CL_CONTEXT_NUM_DEVICES, sizeof count, &count, nullptr);
  std::vector<cl_device_id> devices(count);
  const size_t bytes = count * sizeof(cl_device_id);
  const bool told =
      count != 0 && cl.clGetContextInfo(context, CL_CONTEXT_DEVICES, bytes, devices.data(), nullptr) == CL_SUCCESS;
  return !told || may_be_emulated(cl, devices[0]);
}

}  // namespace

// Asked once for each kernel.
bool EmulatedUsm::is_ours(cl_kernel handle) {
  {
    const MutexLock lock(mutex_);
    const auto found = kernels_.find(handle);
    if (found != kernels_.end() && found->second.is_ours) return *found->second.is_ours;
  }
  const bool ours = are_ours(cl_, handle);
  const MutexLock lock(mutex_);
  if (const auto found = kernels_.find(handle); found != kernels_.end()) found->second.is_ours = ours;
  return ours;
}

bool EmulatedUsm::exec_info(cl_kernel handle, cl_kernel_exec_info what, size_t size, const void* value,
                            cl_int* result) {
  const bool is_list = what == CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL || what == CL_KERNEL_EXEC_INFO_SVM_PTRS;
  const bool is_flag = what >= CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL &&
                       what <= CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL;
  if (!is_flag && !is_list) return false;
  if (handle && !is_ours(handle)) return false;
  if (what == CL_KERNEL_EXEC_INFO_SVM_PTRS) {  // the driver looks at it, and forgets what it was told before
    *result = cl_.clSetKernelExecInfo(handle, what, size, value);
    if (*result != CL_SUCCESS) return true;
  } else if (!value || (is_flag && size != sizeof(cl_bool)) || (is_list && size % sizeof(void*) != 0)) {
    *result = handle ? CL_INVALID_VALUE : CL_INVALID_KERNEL;
    return true;
  }
  cl_uint references = 0;
  *result = handle ? cl_.clGetKernelInfo(handle, CL_KERNEL_REFERENCE_COUNT, sizeof references, &references, nullptr)
                   : CL_INVALID_KERNEL;
  if (*result != CL_SUCCESS) return true;
  const MutexLock lock(mutex_);
  Kernel& kernel = kernel_of(handle);
  kernel.told = 0;
  if (is_flag) {
    // The flags are in the order host, device, shared, as Memory is.
    kernel.indirect[what - CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL] =
        *static_cast<const cl_bool*>(value) != CL_FALSE;
    return true;
  }
  auto* const pointers = static_cast<void* const*>(value);
  auto& list = what == CL_KERNEL_EXEC_INFO_SVM_PTRS ? kernel.svm : kernel.named;
  list.assign(pointers, pointers + size / sizeof *pointers);
  return true;
}

cl_int EmulatedUsm::set_exec_info(cl_kernel kernel, cl_kernel_exec_info what, size_t size, const void* value) {
  cl_int result = CL_SUCCESS;
  return exec_info(kernel, what, size, value, &result) ? result : cl_.clSetKernelExecInfo(kernel, what, size, value);
}

bool EmulatedUsm::concerns(cl_kernel kernel) {
  if (!used_.load(std::memory_order_acquire)) return false;
  const MutexLock lock(mutex_);
  const auto found = kernels_.find(kernel);
  return found != kernels_.end() && found->second.uses_any();
}

// The blocks of the host's that the kernel may use.
EmulatedUsm::Uses EmulatedUsm::uses_of(const Kernel& kernel) {
  Uses uses;
  for (const auto& [index, p] : kernel.arguments) add_use(p, uses);
  for (void* const p : kernel.named) add_use(p, uses);
  for (const auto& [address, block] : blocks_) {
    if (block.context == kernel.context && kernel.indirect[static_cast<size_t>(block.memory)])
      add_use(reinterpret_cast<const void*>(address), uses);
  }
  return uses;
}

// What a kernel reaches by pointers in memory, the driver learns as a list of all that there is.
cl_int EmulatedUsm::tell_indirect(cl_kernel handle, Kernel& kernel) {
  const bool any = kernel.indirect[0] || kernel.indirect[1] || kernel.indirect[2];
  if (kernel.told == generation_ || (!any && kernel.named.empty())) return CL_SUCCESS;
  std::vector<void*> all = kernel.svm;
  for (void* const p : kernel.named) {
    if (const auto found = holding(p); found != blocks_.end()) all.push_back(found->second.svm);
  }
  for (const auto& [address, block] : blocks_) {
    if (block.context == kernel.context && kernel.indirect[static_cast<size_t>(block.memory)]) all.push_back(block.svm);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  kernel.told = generation_;
  if (all.empty()) return CL_SUCCESS;
  return cl_.clSetKernelExecInfo(handle, CL_KERNEL_EXEC_INFO_SVM_PTRS, all.size() * sizeof(void*), all.data());
}

cl_int EmulatedUsm::tell(cl_kernel handle) {
  const MutexLock lock(mutex_);
  const auto found = kernels_.find(handle);
  return found == kernels_.end() ? CL_SUCCESS : tell_indirect(handle, kernel_of(handle));
}

cl_int EmulatedUsm::launch(cl_command_queue queue, cl_kernel handle, Waits waits, cl_event* event,
                           const Enqueue& enqueue) {
  {
    const MutexLock lock(mutex_);
    Kernel& kernel = kernel_of(handle);
    if (const cl_int code = tell_indirect(handle, kernel); code != CL_SUCCESS) return code;
    if (const Uses uses = uses_of(kernel); !uses.empty()) return enqueue_mapped(queue, uses, waits, event, enqueue);
    note_queue(queue);
  }
  return enqueue(waits, event);
}

cl_int EmulatedUsm::enqueue_mapped(cl_command_queue queue, const Uses& uses, Waits waits, cl_event* event,
                                   const Enqueue& enqueue) {
  if ((waits.count == 0) != (waits.list == nullptr)) return CL_INVALID_EVENT_WAIT_LIST;
  note_queue(queue);
  std::vector<cl_event> unmapped;
  cl_int code = unmap(queue, uses, waits, unmapped);
  const size_t ours = unmapped.size();
  unmapped.insert(unmapped.end(), waits.list, waits.list + waits.count);
  cl_event command = nullptr;
  if (code == CL_SUCCESS) code = enqueue({static_cast<cl_uint>(unmapped.size()), unmapped.data()}, &command);
  // Where the command was refused, what has been unmapped is mapped again.
  const Uses done(uses.begin(), uses.begin() + static_cast<ptrdiff_t>(ours));
  const cl_event after = command ? command : ours > 0 ? unmapped[ours - 1] : nullptr;
  const cl_int mapped = done.empty() ? CL_SUCCESS : map_again(queue, done, after, command ? event : nullptr);
  for (size_t i = 0; i < ours; ++i) cl_.clReleaseEvent(unmapped[i]);
  if (command) cl_.clReleaseEvent(command);
  return code != CL_SUCCESS ? code : mapped;
}

// An event for each block that has been unmapped, in their order.
cl_int EmulatedUsm::unmap(cl_command_queue queue, const Uses& uses, Waits waits, std::vector<cl_event>& unmapped) {
  for (const uintptr_t address : uses) {
    Block& block = blocks_.at(address);
    std::vector<cl_event> before(waits.list, waits.list + waits.count);
    if (block.map) before.push_back(block.map);
    cl_event event = nullptr;
    const cl_int code = cl_.clEnqueueSVMUnmap(queue, block.svm, static_cast<cl_uint>(before.size()),
                                              before.empty() ? nullptr : before.data(), &event);
    if (code != CL_SUCCESS) return code;
    unmapped.push_back(event);
  }
  return CL_SUCCESS;
}

cl_int EmulatedUsm::map_again(cl_command_queue queue, const Uses& uses, cl_event after, cl_event* event) {
  cl_event last = after;
  cl_int code = CL_SUCCESS;
  for (const uintptr_t address : uses) {  // one after the other: the last one's end is all of theirs
    Block& block = blocks_.at(address);
    cl_event mapped = nullptr;
    const cl_int now =
        cl_.clEnqueueSVMMap(queue, CL_FALSE, CL_MAP_READ | CL_MAP_WRITE, block.svm, block.svm_size, 1, &last, &mapped);
    if (now != CL_SUCCESS) {
      code = now;
      continue;
    }
    if (block.map) cl_.clReleaseEvent(block.map);
    block.map = last = mapped;
  }
  if (event && cl_.clRetainEvent(last) == CL_SUCCESS) *event = last;
  return code;
}

cl_int EmulatedUsm::with_blocks(cl_command_queue queue, const void* a, const void* b, Waits waits, cl_event* event,
                                const Enqueue& enqueue) {
  {
    const MutexLock lock(mutex_);
    Uses uses;
    add_use(a, uses);
    add_use(b, uses);
    if (!uses.empty()) return enqueue_mapped(queue, uses, waits, event, enqueue);
    note_queue(queue);
  }
  return enqueue(waits, event);
}

cl_int EmulatedUsm::copy(cl_command_queue queue, bool blocking, void* to, const void* from, size_t size, Waits waits,
                         cl_event* event) {
  if (!queue) return CL_INVALID_COMMAND_QUEUE;
  cl_event own = nullptr;
  const cl_int code = with_blocks(queue, to, from, waits, &own, [&](Waits w, cl_event* e) {
    return cl_.clEnqueueSVMMemcpy(queue, CL_FALSE, to, from, size, w.count, w.list, e);
  });
  if (code != CL_SUCCESS) return code;
  const cl_int waited = blocking ? cl_.clWaitForEvents(1, &own) : CL_SUCCESS;
  if (event)
    *event = own;
  else
    cl_.clReleaseEvent(own);
  return waited;
}

cl_int EmulatedUsm::fill(cl_command_queue queue, void* to, const void* pattern, size_t pattern_size, size_t size,
                         Waits waits, cl_event* event) {
  if (!queue) return CL_INVALID_COMMAND_QUEUE;
  return with_blocks(queue, to, to, waits, event, [&](Waits w, cl_event* e) {
    return cl_.clEnqueueSVMMemFill(queue, to, pattern, pattern_size, size, w.count, w.list, e);
  });
}

cl_int EmulatedUsm::hint(cl_command_queue queue, const void* p, size_t size, Waits waits, cl_event* event) {
  if (!queue) return CL_INVALID_COMMAND_QUEUE;
  {
    const MutexLock lock(mutex_);
    const auto found = holding(p);
    if (found == blocks_.end()) return CL_INVALID_VALUE;
    if (size > found->first + found->second.size - reinterpret_cast<uintptr_t>(p)) return CL_INVALID_VALUE;
  }
  return cl_.clEnqueueMarkerWithWaitList(queue, waits.count, waits.list, event);
}

}  // namespace gt::usm
