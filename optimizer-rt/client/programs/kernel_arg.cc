// clSetKernelArg: the interface gives bytes; what they are the kernel's description says, or, where nobody could tell,
// whether they are the handle of an object that lives.
#include <CL/cl_ext.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <tuple>

#include "optimizer-rt/client/base/answers.h"
#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/objects/device_address.h"
#include "optimizer-rt/client/programs/kernel.h"

namespace gt::virt {
namespace {

using Form = ArgValue::Form;
using Kind = wire::ArgInfo::Kind;

constexpr size_t LargestParameter = 64 << 10;  // no device has as much for all arguments of a kernel

// Bytes of a value of a built-in type ("uint4", "float*" has none); 0: not known. Of three components there are drivers
// that take three as well as four.
size_t type_bytes(std::string_view type) {
  struct Scalar {
    std::string_view name;
    size_t bytes;
  };
  static constexpr Scalar Scalars[] = {{"char", 1},  {"uchar", 1}, {"short", 2},  {"ushort", 2}, {"half", 2},
                                       {"int", 4},   {"uint", 4},  {"float", 4},  {"long", 8},   {"ulong", 8},
                                       {"double", 8}};
  size_t lanes = 1;
  const size_t digits = std::min(type.find_first_of("0123456789"), type.size());
  if (digits < type.size()) {
    lanes = 0;
    for (const char c : type.substr(digits)) {
      if (!std::isdigit(static_cast<unsigned char>(c))) return 0;
      lanes = lanes * 10 + static_cast<size_t>(c - '0');
    }
    if (lanes == 3) lanes = 4;
    if (lanes != 2 && lanes != 4 && lanes != 8 && lanes != 16) return 0;
  }
  for (const Scalar& s : Scalars) {
    if (s.name == type.substr(0, digits)) return s.bytes * lanes;
  }
  return 0;
}

ArgValue plain(size_t size, const void* value) {
  require(value && size != 0, value ? CL_INVALID_ARG_SIZE : CL_INVALID_ARG_VALUE);
  ArgValue arg;
  arg.form = Form::Value;
  const auto* bytes = static_cast<const uint8_t*>(value);
  arg.value.assign(bytes, bytes + size);
  return arg;
}

// Since OpenCL 3.1.
bool may_be_empty(const _cl_kernel& kernel) {
  return std::ranges::all_of(kernel.program->devices, [](_cl_device_id* device) {
    return device->number<cl_version>(CL_DEVICE_NUMERIC_VERSION) >= CL_MAKE_VERSION(3, 1, 0);
  });
}

ArgValue local(const _cl_kernel& kernel, size_t size, const void* value) {
  require(!value, CL_INVALID_ARG_VALUE);
  require(size != 0 || may_be_empty(kernel), CL_INVALID_ARG_SIZE);
  ArgValue arg;
  arg.form = Form::Local;
  arg.size = size;
  return arg;
}

template <class Handle>
Handle handle_in(size_t size, const void* value) {
  require(size == sizeof(Handle), CL_INVALID_ARG_SIZE);
  Handle handle = nullptr;
  if (value) std::memcpy(&handle, value, sizeof handle);
  return handle;
}

// A value of a type whose size is not known here, or not of the size that is: as the driver says. Sizes that it has
// said something of are not asked about again. It is asked with zeros: the program need not have that many bytes there.
cl_int driver_says(_cl_kernel& kernel, cl_uint index, size_t size, const void* value) {
  _cl_program& program = *kernel.program;
  const auto question = std::make_tuple(kernel.info.name, index, size, value != nullptr);
  {
    const MutexLock lock(program.mutex);
    if (const auto it = program.argument_sizes.find(question); it != program.argument_sizes.end()) return it->second;
  }
  cl_int code = CL_SUCCESS;
  for (const auto& sub_context : program.context->sub_contexts) {
    if (program.at(*sub_context) == 0 || !sub_context->session.alive()) continue;
    constexpr api::FnId Set = api::FnId::clSetKernelArg;
    const Bytes zeros(value ? size : 0);
    const void* const bytes = value ? zeros.data() : nullptr;
    const Bytes outputs = sub_context->session.ask<Set>({}, as<cl_kernel>(kernel.at(*sub_context)), index, size, bytes);
    const cl_int here = answer_of(Set, outputs).code;
    // Proxies that do not know the question take no answer for it: the launch has it then.
    if (here != CL_INVALID_OPERATION && code == CL_SUCCESS) code = here;
  }
  const MutexLock lock(program.mutex);
  program.argument_sizes[question] = code;
  return code;
}

void require_driver(_cl_kernel& kernel, cl_uint index, size_t size, const void* value) {
  if (size == 0) return;  // PoCL's driver ends with it
  require(!value || size <= LargestParameter, CL_INVALID_ARG_SIZE);  // without one it may be local memory
  {
    const MutexLock lock(kernel.mutex);
    const ArgValue& now = kernel.args[index];
    if (value && now.form == Form::Value && now.value.size() == size) return;
  }
  cl_int code = CL_SUCCESS;
  try {
    code = driver_says(kernel, index, size, value);
  } catch (const Failure&) {  // the link has just closed
  }
  require_success(code);
}

ArgValue memory(_cl_kernel& kernel, cl_uint index, size_t size, const void* value) {
  const wire::ArgInfo& info = kernel.info.args[index];
  ArgValue arg;
  arg.form = Form::Mem;
  if (!value && size != sizeof(cl_mem)) {  // which many refuse
    require(size != 0, CL_INVALID_ARG_SIZE);
    require_driver(kernel, index, size, value);
    return arg;
  }
  cl_mem const handle = handle_in<cl_mem>(size, value);
  const bool image = info.kind == Kind::Image;
  if (!handle) {
    require(!image, CL_INVALID_ARG_VALUE);
    return arg;
  }
  const Ref<_cl_mem> mem = live_mem(handle);
  require(mem && mem->context.get() == kernel.program->context.get(), CL_INVALID_MEM_OBJECT);
  if (image) {
    require(mem->is_image(), CL_INVALID_MEM_OBJECT);
    const bool reads_only = mem->flags & CL_MEM_READ_ONLY, writes_only = mem->flags & CL_MEM_WRITE_ONLY;
    require(!(info.access == CL_KERNEL_ARG_ACCESS_READ_ONLY && writes_only), CL_INVALID_ARG_VALUE);
    require(!(info.access == CL_KERNEL_ARG_ACCESS_WRITE_ONLY && reads_only), CL_INVALID_ARG_VALUE);
  } else {
    require(!mem->is_image(), CL_INVALID_MEM_OBJECT);
  }
  arg.mem = mem.get();
  arg.serial = mem->serial;
  return arg;
}

ArgValue sampler(_cl_kernel& kernel, size_t size, const void* value) {
  require(value, CL_INVALID_ARG_VALUE);
  cl_sampler const handle = handle_in<cl_sampler>(size, value);
  require(is(handle) && handle->context.get() == kernel.program->context.get(), CL_INVALID_SAMPLER);
  ArgValue arg;
  arg.form = Form::Sampler;
  arg.sampler = Ref<_cl_sampler>(handle);
  return arg;
}

ArgValue unknown(_cl_kernel& kernel, cl_uint index, size_t size, const void* value) {
  if (!value) {  // local memory, or a buffer that is NULL: the driver takes the former for both
    ArgValue arg = local(kernel, size, value);
    require_driver(kernel, index, size, value);
    return arg;
  }
  if (size == sizeof(cl_mem)) {
    const void* handle = nullptr;
    std::memcpy(&handle, value, sizeof handle);
    if (const Ref<_cl_mem> mem = live_mem(handle)) {
      ArgValue arg;
      arg.form = Form::Mem;
      arg.mem = mem.get();
      arg.serial = mem->serial;
      return arg;
    }
    if (Ref<_cl_sampler> s = live_sampler(handle)) {
      ArgValue arg;
      arg.form = Form::Sampler;
      arg.sampler = std::move(s);
      return arg;
    }
  }
  require_driver(kernel, index, size, value);
  return plain(size, value);
}

void set(_cl_kernel& kernel, cl_uint index, ArgValue arg) {
  const MutexLock lock(kernel.mutex);
  ArgValue& now = kernel.args[index];
  const bool same = now.form == arg.form && arg.form != Form::Unset && now.value == arg.value &&
                    now.size == arg.size && now.mem == arg.mem && now.serial == arg.serial && now.svm == arg.svm &&
                    now.address == arg.address && now.sampler.get() == arg.sampler.get();
  if (same) return;
  arg.version = ++kernel.versions;
  now = std::move(arg);
}

cl_int reach_addresses(_cl_kernel& kernel, size_t size, const void* value) {
  require(size % sizeof(cl_ulong) == 0 && (size == 0) == (value == nullptr), CL_INVALID_VALUE);
  std::vector<cl_ulong> addresses(size / sizeof(cl_ulong));
  if (value) std::memcpy(addresses.data(), value, size);
  const MutexLock lock(kernel.mutex);
  kernel.addresses = std::move(addresses);
  kernel.addresses_sent = false;
  return CL_SUCCESS;
}

bool is_of_usm(cl_kernel_exec_info name) {
  return name == CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL || name == CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL ||
         name == CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL ||
         name == CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL;
}

bool first_bool(const void* value) {
  cl_bool b = CL_FALSE;
  std::memcpy(&b, value, sizeof b);
  return b != CL_FALSE;
}

}  // namespace

ArgValue argument_value(_cl_kernel& kernel, cl_uint index, size_t size, const void* value) {
  require(index < kernel.info.args.size(), CL_INVALID_ARG_INDEX);
  const wire::ArgInfo& info = kernel.info.args[index];
  switch (info.kind) {
    case Kind::Global:
    case Kind::Constant:
    case Kind::Image:
      return memory(kernel, index, size, value);
    case Kind::Local:
      return local(kernel, size, value);
    case Kind::Sampler:
      return sampler(kernel, size, value);
    case Kind::Value: {
      if (type_bytes(info.type) != size) require_driver(kernel, index, size, value);
      return plain(size, value);
    }
    case Kind::Pipe:
      throw Failure{CL_INVALID_OPERATION};
    default:
      return unknown(kernel, index, size, value);
  }
}

// Either kind of memory by either function: programs mix them, and drivers let them.
ArgValue svm_argument(_cl_kernel& kernel, cl_uint index, const void* value) {
  const _cl_context& context = *kernel.program->context;
  require(context.has_svm() || context.has_usm(), CL_INVALID_OPERATION);
  require(index < kernel.info.args.size(), CL_INVALID_ARG_INDEX);
  const Kind kind = kernel.info.args[index].kind;
  require(kind == Kind::Global || kind == Kind::Constant || kind == Kind::Unknown, CL_INVALID_ARG_VALUE);
  ArgValue arg;
  arg.form = Form::Svm;
  arg.svm = value;
  if (value) {
    auto block = context.usm.find(value);
    if (!block) block = context.svm.find(value);
    require(block != nullptr, CL_INVALID_ARG_VALUE);
    arg.serial = block->name;  // drivers keep what they looked up: another block may have the address since
  }
  return arg;
}

namespace fn {

cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void* value) {
  check(kernel);
  set(*kernel, index, argument_value(*kernel, index, size, value));
  return CL_SUCCESS;
}

cl_int clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint index, const void* value) {
  check(kernel);
  set(*kernel, index, svm_argument(*kernel, index, value));
  return CL_SUCCESS;
}

cl_int clSetKernelArgMemPointerINTEL(cl_kernel kernel, cl_uint index, const void* value) {
  check(kernel);
  require(kernel->program->context->has_usm(), CL_INVALID_OPERATION);
  set(*kernel, index, svm_argument(*kernel, index, value));
  return CL_SUCCESS;
}

cl_int clSetKernelArgDevicePointerEXT(cl_kernel kernel, cl_uint index, cl_ulong address) {
  check(kernel);
  require(has_addresses(*kernel->program->context), CL_INVALID_OPERATION);
  require(index < kernel->info.args.size(), CL_INVALID_ARG_INDEX);
  const Kind kind = kernel->info.args[index].kind;
  require(kind == Kind::Global || kind == Kind::Constant || kind == Kind::Unknown, CL_INVALID_ARG_VALUE);
  ArgValue arg;
  arg.form = Form::Address;
  arg.address = address;
  set(*kernel, index, std::move(arg));
  return CL_SUCCESS;
}

cl_int clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info name, size_t size, const void* value) {
  check(kernel);
  const _cl_context& context = *kernel->program->context;
  if (name == ReachedAddresses && has_addresses(context)) return reach_addresses(*kernel, size, value);
  const bool usm = is_of_usm(name);
  require(usm ? context.has_usm() : context.has_svm(), CL_INVALID_OPERATION);
  if (name == CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM) {
    require(value && size == sizeof(cl_bool), CL_INVALID_VALUE);
    return first_bool(value) ? CL_INVALID_OPERATION : CL_SUCCESS;
  }
  if (usm && name != CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL) {
    require(value && size >= sizeof(cl_bool), CL_INVALID_VALUE);
    const MutexLock lock(kernel->mutex);
    const cl_bool access = first_bool(value) ? CL_TRUE : CL_FALSE;
    const auto known = kernel->reaches.kinds.find(name);
    if (known != kernel->reaches.kinds.end() && known->second == access) return CL_SUCCESS;
    kernel->reaches.kinds[name] = access;
    ++kernel->reaches.version;
    return CL_SUCCESS;
  }
  require((usm || name == CL_KERNEL_EXEC_INFO_SVM_PTRS) && size % sizeof(void*) == 0, CL_INVALID_VALUE);
  require((size == 0) == (value == nullptr), CL_INVALID_VALUE);  // none: it reaches nothing any more
  std::vector<const void*> pointers(size / sizeof(void*));
  if (value) std::memcpy(pointers.data(), value, size);
  const SvmBlocks& blocks = usm ? context.usm : context.svm;
  for (const void* p : pointers) require(blocks.find(p) != nullptr, CL_INVALID_VALUE);
  const MutexLock lock(kernel->mutex);
  (usm ? kernel->reaches.usm : kernel->reaches.svm) = std::move(pointers);
  ++kernel->reaches.version;
  return CL_SUCCESS;
}

}  // namespace fn
}  // namespace gt::virt
