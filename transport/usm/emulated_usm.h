// Unified shared memory (cl_intel_unified_shared_memory) for drivers that have none, made of their shared virtual
// memory.
//
// Device memory is coarse-grained SVM that the host never touches. Host and shared memory are fine-grained SVM where
// all devices of the context have that. Elsewhere they are coarse-grained and mapped for the host; each command that
// may use one of them unmaps it first and maps it again afterwards, and the event that the program gets is that of the
// map: so who waits for the command may touch the memory, which is what the extension promises. Commands that use the
// same such memory run one after the other, in whatever queues they are. Where the program is elsewhere, and reads and
// writes by commands alone (Host::Copies), all memory is as the device's is.
//
// What cannot be: access by host and device at a time (the capabilities say so), atomics between them, memory of the
// system, several devices at once. An event has the type of the SVM command, and where memory is mapped the times of
// the map. A command that waits for a user event keeps other commands on such memory waiting.
//
// Thread safety: all functions; of one kernel as OpenCL has it, one thread at a time.
// Errors: what the extension names is found here, the rest is the driver's own answer. May throw bad_alloc.
#pragma once

#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "traces/base/mutex.h"
#include "transport/opencl/cl_functions.h"

namespace gt::usm {

enum class Memory : uint8_t { Host, Device, Shared };
// How the program gets at host and shared memory: by its pointer, or by commands that copy.
enum class Host : uint8_t { Touches, Copies };

// Whether a device's driver can be given it: has coarse-grained SVM, and no such extension.
bool may_be_emulated(const ClFunctions& cl, cl_device_id device);
// Of CL_DEVICE_..._MEM_CAPABILITIES_INTEL. False: `what` is none of them.
bool capabilities(const ClFunctions& cl, cl_device_id device, cl_device_info what,
                  cl_device_unified_shared_memory_capabilities_intel* out);
// Answers clGetDeviceInfo where it concerns the extension. False: the driver's to answer. REQUIRES: may_be_emulated().
bool device_info(const ClFunctions& cl, cl_device_id device, cl_device_info what, size_t size, void* value,
                 size_t* size_ret, cl_int* result);
bool is_about_usm(cl_device_info what);  // what device_info() may answer. Cost: no call

class EmulatedUsm {
 public:
  explicit EmulatedUsm(const ClFunctions& cl, Host host = Host::Touches) : cl_(cl), host_(host) {}
  EmulatedUsm(const EmulatedUsm&) = delete;
  EmulatedUsm& operator=(const EmulatedUsm&) = delete;

  // REQUIRES: cl.has(ClFunctions::Usm).
  void* allocate(Memory memory, cl_context context, cl_device_id device, const cl_mem_properties_intel* properties,
                 size_t size, cl_uint alignment, cl_int* error);
  cl_int free(cl_context context, void* p, bool waits);
  cl_int info(cl_context context, const void* p, cl_mem_info_intel what, size_t size, void* value, size_t* size_ret);

  cl_int set_argument(cl_kernel kernel, cl_uint index, const void* p);
  // Of clSetKernelExecInfo. False: the driver's to answer, also where its devices have such memory of their own.
  bool exec_info(cl_kernel kernel, cl_kernel_exec_info what, size_t size, const void* value, cl_int* result);
  cl_int set_exec_info(cl_kernel kernel, cl_kernel_exec_info what, size_t size, const void* value);  // whoever answers
  // The program's references to its kernels and queues: drivers count their own among them. What has none left is
  // forgotten.
  void kernel_made(cl_kernel kernel);
  void kernel_cloned(cl_kernel from, cl_kernel to);
  void kernel_retained(cl_kernel kernel);
  void kernel_releasing(cl_kernel kernel);
  void queue_made(cl_command_queue queue);
  void queue_retained(cl_command_queue queue);
  void queue_releasing(cl_command_queue queue);

  struct Waits {
    cl_uint count;
    const cl_event* list;
  };
  using Enqueue = std::function<cl_int(Waits waits, cl_event* event)>;
  // Whether a launch of the kernel needs launch() at all. Cost: a load where no memory was ever allocated.
  bool concerns(cl_kernel kernel);
  cl_int launch(cl_command_queue queue, cl_kernel kernel, Waits waits, cl_event* event, const Enqueue& enqueue);
  // For launches that are recorded: the driver is told what the kernel reaches.
  cl_int tell(cl_kernel kernel);

  cl_int copy(cl_command_queue queue, bool blocking, void* to, const void* from, size_t size, Waits waits,
              cl_event* event);
  cl_int fill(cl_command_queue queue, void* to, const void* pattern, size_t pattern_size, size_t size, Waits waits,
              cl_event* event);
  // Migrations and advice are hints: a command that does nothing.
  cl_int hint(cl_command_queue queue, const void* p, size_t size, Waits waits, cl_event* event);

 private:
  struct Block {
    Memory memory;
    bool is_fine;
    bool is_mapped;  // coarse-grained, for the host
    cl_context context;
    cl_device_id device;
    size_t size;
    cl_mem_alloc_flags_intel flags;
    char* svm;  // where the driver's block begins, and how much it is: more where the alignment is large
    size_t svm_size;
    cl_event map = nullptr;  // ours; the last one. nullptr: it is over for certain
  };
  using Blocks = std::map<uintptr_t, Block>;  // by the program's address
  struct Queue {
    cl_context context = nullptr;
    cl_uint references = 1;
    bool is_used = false;  // by a command that may use such memory
  };
  struct Kernel {
    cl_context context = nullptr;
    cl_uint references = 1;
    std::map<cl_uint, const void*> arguments;
    std::vector<void*> named;     // CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL
    std::vector<void*> svm;       // the program's own CL_KERNEL_EXEC_INFO_SVM_PTRS
    bool indirect[3] = {};        // by Memory
    std::optional<bool> is_ours;  // of devices that are given such memory
    uint64_t told = 0;            // the state of blocks_ of which the driver was told; 0: of none
    bool uses_any() const { return !arguments.empty() || !named.empty() || indirect[0] || indirect[1] || indirect[2]; }
  };
  using Uses = std::vector<uintptr_t>;

  cl_int check_allocation(Memory memory, cl_context context, cl_device_id device,
                          const cl_mem_properties_intel* properties, size_t size, cl_uint alignment,
                          Block& block) const;
  cl_int map_first(Block& block, cl_device_id device) const;
  cl_int unmap_last(const Block& block) const;
  cl_command_queue a_queue(cl_context context, cl_device_id device, cl_int* error) const;
  void finish_queues(cl_context context);

  Blocks::iterator holding(const void* p) GT_REQUIRES(mutex_);
  void add_use(const void* p, Uses& uses) GT_REQUIRES(mutex_);
  Kernel& kernel_of(cl_kernel kernel) GT_REQUIRES(mutex_);
  Uses uses_of(const Kernel& kernel) GT_REQUIRES(mutex_);
  bool is_ours(cl_kernel handle);
  cl_int tell_indirect(cl_kernel handle, Kernel& kernel) GT_REQUIRES(mutex_);
  cl_int enqueue_mapped(cl_command_queue queue, const Uses& uses, Waits waits, cl_event* event, const Enqueue& enqueue)
      GT_REQUIRES(mutex_);
  cl_int unmap(cl_command_queue queue, const Uses& uses, Waits waits, std::vector<cl_event>& unmapped)
      GT_REQUIRES(mutex_);
  cl_int map_again(cl_command_queue queue, const Uses& uses, cl_event after, cl_event* event) GT_REQUIRES(mutex_);
  cl_int with_blocks(cl_command_queue queue, const void* a, const void* b, Waits waits, cl_event* event,
                     const Enqueue& enqueue);
  void note_queue(cl_command_queue queue) GT_REQUIRES(mutex_);

  const ClFunctions cl_;
  const Host host_;
  Mutex mutex_;
  Blocks blocks_ GT_GUARDED_BY(mutex_);
  uint64_t generation_ GT_GUARDED_BY(mutex_) = 1;  // of blocks_
  std::map<cl_kernel, Kernel> kernels_ GT_GUARDED_BY(mutex_);
  std::map<cl_command_queue, Queue> queues_ GT_GUARDED_BY(mutex_);
  std::atomic<bool> used_{false};
};

}  // namespace gt::usm
