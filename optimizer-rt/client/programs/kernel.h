// A kernel and its arguments, which travel with the launch after they have changed.
//
// Thread safety: `mutex`; setting arguments of one kernel from two threads is the program's fault, launching is not.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "optimizer-rt/client/memory/mem.h"
#include "optimizer-rt/client/memory/sampler.h"
#include "optimizer-rt/client/programs/program.h"
#include "traces/base/mutex.h"

namespace gt::virt {

// As clSetKernelArg left it.
struct ArgValue {
  enum class Form : uint8_t { Unset, Value, Mem, Sampler, Local, Svm, Address };
  Form form = Form::Unset;
  Bytes value;              // Value
  uint64_t size = 0;        // Local
  _cl_mem* mem = nullptr;   // Mem; not held: the program may release it. NULL is an argument, too
  uint64_t serial = 0;      // of that object, or block
  Ref<_cl_sampler> sampler;
  const void* svm = nullptr;  // Svm: an address in a block, or NULL
  cl_ulong address = 0;       // Address: on the device
  uint64_t version = 0;     // counts changes
};

// What a kernel reaches through other pointers than its arguments; what is not there was never said.
struct Reaches {
  using Pointers = std::optional<std::vector<const void*>>;
  Pointers svm, usm;  // CL_KERNEL_EXEC_INFO_SVM_PTRS, _USM_PTRS_INTEL
  // Any allocation of a kind: CL_KERNEL_EXEC_INFO_INDIRECT_..._ACCESS_INTEL.
  std::map<cl_kernel_exec_info, cl_bool> kinds;
  uint64_t version = 0;  // counts changes
};

}  // namespace gt::virt

struct _cl_kernel : gt::virt::Object {
  static constexpr auto Kind = gt::virt::Type::Kernel;
  static constexpr cl_int Invalid = CL_INVALID_KERNEL;

  _cl_kernel(_cl_program& program, const gt::wire::KernelInfo& info);
  _cl_kernel(_cl_kernel& other);  // with its arguments
  ~_cl_kernel();

  gt::virt::ObjectId at(gt::virt::SubContext& sub_context);
  // Of its work-groups on a device, with the arguments as they are; the executor is asked once.
  gt::Bytes work_group_info(_cl_device_id& device, cl_kernel_work_group_info param);

  const gt::virt::Ref<_cl_program> program;
  const gt::wire::KernelInfo info;
  const bool may_require_size;  // for all that its source says: __attribute__((reqd_work_group_size(...)))

  const std::vector<bool> may_write;  // by argument, as its SPIR-V has it; empty: not known

  gt::Mutex mutex;
  std::vector<gt::virt::ArgValue> args GT_GUARDED_BY(mutex);
  std::vector<std::vector<uint64_t>> sent GT_GUARDED_BY(mutex);  // by sub-context, by argument: the version there
  uint64_t versions GT_GUARDED_BY(mutex) = 0;
  uint64_t renamed GT_GUARDED_BY(mutex) = 0;  // of the context, when arguments were sent
  gt::virt::Reaches reaches GT_GUARDED_BY(mutex);
  std::vector<uint64_t> reaches_sent GT_GUARDED_BY(mutex);  // by sub-context: the version there
  std::vector<cl_ulong> addresses GT_GUARDED_BY(mutex);     // as `reaches`, on the device
  bool addresses_sent GT_GUARDED_BY(mutex) = true;

 private:
  struct WorkGroupQuestion {
    _cl_device_id* device;
    cl_kernel_work_group_info param;
    std::map<cl_uint, size_t> local;  // arguments, and their bytes
    auto operator<=>(const WorkGroupQuestion&) const = default;
  };
  std::map<cl_uint, size_t> local_arguments();

  gt::virt::Names names_;
  gt::Mutex infos_mutex_;
  std::map<WorkGroupQuestion, gt::Bytes> infos_ GT_GUARDED_BY(infos_mutex_);
};

namespace gt::virt {

// What clSetKernelArg and clSetKernelArgSVMPointer make of these; throws what they answer.
ArgValue argument_value(_cl_kernel& kernel, cl_uint index, size_t size, const void* value);
ArgValue svm_argument(_cl_kernel& kernel, cl_uint index, const void* value);

// Of cl_ext_buffer_device_address.
namespace fn {
cl_int clSetKernelArgDevicePointerEXT(cl_kernel kernel, cl_uint index, cl_ulong address);
}

}  // namespace gt::virt
