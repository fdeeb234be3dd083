// clEnqueueNDRangeKernel and clEnqueueTask: what changed of the arguments goes along.
#include <CL/cl_ext.h>

#include <algorithm>
#include <utility>

#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/calls/command.h"
#include "optimizer-rt/client/calls/shared_use.h"
#include "optimizer-rt/client/calls/svm_commands.h"
#include "optimizer-rt/client/programs/kernel.h"

namespace gt::virt {
namespace {

using Form = ArgValue::Form;

struct Range {
  cl_uint dimensions;
  const size_t* offset;
  const size_t* global;
  const size_t* local;
};

template <class T>
T first(const Bytes& b) {
  T v{};
  if (b.size() >= sizeof v) std::memcpy(&v, b.data(), sizeof v);
  return v;
}

// Some drivers choose a size themselves that is 0.
bool leaves_choice(const Range& r) {
  return r.local && std::any_of(r.local, r.local + r.dimensions, [](size_t n) { return n == 0; });
}

// No work at all, which OpenCL allows since 2.1.
bool is_empty(const Range& r) {
  return !r.global || std::any_of(r.global, r.global + r.dimensions, [](size_t n) { return n == 0; });
}

void check_local(_cl_kernel& kernel, _cl_device_id& device, const Range& r) {
  if (leaves_choice(r)) return;  // the driver says
  const Bytes required = kernel.work_group_info(device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE);
  size_t fixed[3] = {};
  if (required.size() == sizeof fixed) std::memcpy(fixed, required.data(), sizeof fixed);
  const bool uneven = device.number<cl_bool>(CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT) != CL_FALSE;
  size_t items = 1;
  for (cl_uint i = 0; i < r.dimensions; ++i) {
    require(fixed[0] == 0 || fixed[i] == r.local[i], CL_INVALID_WORK_GROUP_SIZE);
    require(uneven || r.global[i] % r.local[i] == 0, CL_INVALID_WORK_GROUP_SIZE);
    require(!__builtin_mul_overflow(items, r.local[i], &items), CL_INVALID_WORK_GROUP_SIZE);
  }
  const auto most = first<size_t>(kernel.work_group_info(device, CL_KERNEL_WORK_GROUP_SIZE));
  require(most == 0 || items <= most, CL_INVALID_WORK_GROUP_SIZE);
  const Bytes& sizes = device.info(CL_DEVICE_MAX_WORK_ITEM_SIZES);
  for (cl_uint i = 0; i < r.dimensions && sizeof most * (i + 1) <= sizes.size(); ++i) {
    size_t longest = 0;
    std::memcpy(&longest, sizes.data() + i * sizeof longest, sizeof longest);
    require(r.local[i] <= longest, CL_INVALID_WORK_ITEM_SIZE);
  }
}

void check_range(_cl_kernel& kernel, _cl_device_id& device, const Range& r) {
  const auto most = device.number<cl_uint>(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, 3);
  require(r.dimensions >= 1 && r.dimensions <= std::min<cl_uint>(most, 3), CL_INVALID_WORK_DIMENSION);
  const bool empty_range_allowed = device.number<cl_version>(CL_DEVICE_NUMERIC_VERSION) >= CL_MAKE_VERSION(2, 1, 0);
  if (is_empty(r)) return require(empty_range_allowed, CL_INVALID_GLOBAL_WORK_SIZE);
  for (cl_uint i = 0; i < r.dimensions; ++i) {
    size_t end = 0;
    require(!r.offset || !__builtin_add_overflow(r.offset[i], r.global[i], &end), CL_INVALID_GLOBAL_OFFSET);
  }
  if (r.local) check_local(kernel, device, r);
}

// Some drivers want to be told a size that the source fixes.
bool leaves_out_required(_cl_kernel& kernel, _cl_device_id& device, const Range& r) {
  if (r.local || !kernel.may_require_size) return false;
  const Bytes required = kernel.work_group_info(device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE);
  return first<size_t>(required) != 0;
}

bool is_written(const wire::ArgInfo& info, const _cl_mem& mem) {
  if (mem.flags & CL_MEM_READ_ONLY || info.kind == wire::ArgInfo::Kind::Constant) return false;
  if (info.kind == wire::ArgInfo::Kind::Image) return info.access != CL_KERNEL_ARG_ACCESS_READ_ONLY;
  return !(info.type_qualifier & CL_KERNEL_ARG_TYPE_CONST);
}

// The memory objects among the arguments, at the sub-context where they are needed.
void use_arguments(Command& c, _cl_kernel& kernel) GT_REQUIRES(kernel.mutex) {
  for (size_t i = 0; i < kernel.args.size(); ++i) {
    const ArgValue& arg = kernel.args[i];
    require(arg.form != Form::Unset, CL_INVALID_KERNEL_ARGS);
    if (arg.form != Form::Mem || !arg.mem) continue;
    const Ref<_cl_mem> mem = live_mem(arg.mem);
    require(mem && mem->serial == arg.serial, CL_INVALID_KERNEL_ARGS);  // released since
    is_written(kernel.info.args[i], *mem) ? c.writes(*mem) : c.reads(*mem);
  }
}

// What it may see and write of memory that the program uses as it likes.
SharedUse shared_use(const _cl_kernel& kernel) GT_REQUIRES(kernel.mutex) {
  const SvmBlocks& blocks = kernel.program->context->usm;
  SharedUse use;
  if (!blocks.any_in_step()) return use;
  for (size_t i = 0; i < kernel.args.size(); ++i) {
    if (kernel.args[i].form != Form::Svm || !kernel.args[i].svm) continue;
    const auto block = blocks.find(kernel.args[i].svm);
    if (!block) continue;
    const wire::ArgInfo& info = kernel.info.args[i];
    const bool constant = info.kind == wire::ArgInfo::Kind::Constant ||
                          (kernel.info.told && (info.type_qualifier & CL_KERNEL_ARG_TYPE_CONST));
    constant ? use.reads(block) : use.writes(block);
  }
  const Reaches& reaches = kernel.reaches;
  for (const void* p : reaches.usm.value_or(std::vector<const void*>()))
    if (const auto block = blocks.find(p)) use.writes(block);
  const auto any = [&](cl_kernel_exec_info kind) {
    const auto it = reaches.kinds.find(kind);
    return it != reaches.kinds.end() && it->second;
  };
  const bool host = any(CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL),
             shared = any(CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL),
             device = any(CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL);
  if (!host && !shared && !device) return use;
  const auto reached = [=](cl_unified_shared_memory_type_intel type) {
    return type == CL_MEM_TYPE_HOST_INTEL ? host : type == CL_MEM_TYPE_SHARED_INTEL ? shared : device;
  };
  for (const auto& block : blocks.in_step(reached)) use.writes(block);
  return use;
}

wire::KernelArg message_of(uint32_t index, const ArgValue& arg, SubContext& sub_context) {
  wire::KernelArg out;
  out.index = index;
  switch (arg.form) {
    case Form::Mem:
      out.form = wire::KernelArg::Form::Object;
      out.object = arg.mem ? arg.mem->at(sub_context) : 0;
      break;
    case Form::Sampler:
      out.form = wire::KernelArg::Form::Object;
      out.object = arg.sampler->at(sub_context);
      break;
    case Form::Local:
      out.form = wire::KernelArg::Form::Local;
      out.size = arg.size;
      break;
    case Form::Svm:
      out.form = wire::KernelArg::Form::Svm;
      out.object = reinterpret_cast<uint64_t>(arg.svm);
      break;
    default:
      out.form = wire::KernelArg::Form::Value;
      out.value = arg.value;
      break;
  }
  return out;
}

// The kernel is locked until the message has been sent.
std::vector<wire::KernelArg> changed_arguments(_cl_kernel& kernel, SubContext& sub_context)
    GT_REQUIRES(kernel.mutex) {
  const uint64_t renamed = kernel.program->context->renamed;
  if (std::exchange(kernel.renamed, renamed) != renamed)
    for (std::vector<uint64_t>& versions : kernel.sent) std::fill(versions.begin(), versions.end(), 0);
  std::vector<wire::KernelArg> changed;
  std::vector<uint64_t>& sent = kernel.sent[sub_context.index];
  for (size_t i = 0; i < kernel.args.size(); ++i) {
    if (sent[i] == kernel.args[i].version) continue;
    sent[i] = kernel.args[i].version;
    changed.push_back(message_of(static_cast<uint32_t>(i), kernel.args[i], sub_context));
  }
  return changed;
}

// What the kernel reaches through other pointers.
void tell_reaches(_cl_kernel& kernel, SubContext& sub_context) GT_REQUIRES(kernel.mutex) {
  Reaches& reaches = kernel.reaches;
  if (std::exchange(kernel.reaches_sent[sub_context.index], reaches.version) == reaches.version) return;
  const auto tell = [&](cl_kernel_exec_info what, const void* value, size_t bytes) {
    sub_context.session.call<api::FnId::clSetKernelExecInfo>({}, as<cl_kernel>(kernel.at(sub_context)), what, bytes,
                                                             bytes ? value : nullptr);
  };
  const auto tell_pointers = [&](cl_kernel_exec_info what, const SvmBlocks& blocks, const Reaches::Pointers& list) {
    if (!list) return;
    std::vector<const void*> there = *list;
    std::erase_if(there, [&](const void* p) {  // freed since, or elsewhere
      const auto block = blocks.find(p);
      return !block || &block->sub_context != &sub_context;
    });
    tell(what, there.data(), there.size() * sizeof(void*));
  };
  tell_pointers(CL_KERNEL_EXEC_INFO_SVM_PTRS, kernel.program->context->svm, reaches.svm);
  tell_pointers(CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, kernel.program->context->usm, reaches.usm);
  for (const auto& [kind, access] : reaches.kinds) tell(kind, &access, sizeof access);
}

void copy(std::array<uint64_t, 3>& to, const size_t* from, cl_uint n) {
  if (from) std::copy_n(from, n, to.begin());
}

// It keeps its place in the queue, that is all.
cl_int do_without_work(Command& c, const _cl_kernel& kernel) GT_REQUIRES(kernel.mutex) {
  for (const ArgValue& arg : kernel.args) require(arg.form != Form::Unset, CL_INVALID_KERNEL_ARGS);
  order_only(c);
  return c.sent();
}

cl_int launch(cl_command_queue queue, cl_kernel kernel, const Range& range, cl_command_type type, cl_uint n,
              const cl_event* list, cl_event* event) {
  check(queue);
  check(kernel);
  require(queue->context.get() == kernel->program->context.get(), CL_INVALID_CONTEXT);
  const auto& devices = kernel->program->devices;
  require(std::find(devices.begin(), devices.end(), queue->device.get()) != devices.end(),
          CL_INVALID_PROGRAM_EXECUTABLE);
  check_range(*kernel, *queue->device, range);
  Command c(queue, type, n, list, event);
  const MutexLock lock(kernel->mutex);
  if (is_empty(range)) return do_without_work(c, *kernel);
  use_arguments(c, *kernel);
  SharedUse shared = shared_use(*kernel);
  shared.begin(c);
  tell_reaches(*kernel, c.sub_context());
  const bool is_asked = leaves_choice(range) || leaves_out_required(*kernel, *queue->device, range);
  if (is_asked) c.want_event();
  wire::Launch message;
  message.queue = queue->name;
  message.kernel = kernel->at(c.sub_context());
  message.waits = c.waits();
  message.event = c.event();
  message.dimensions = static_cast<uint8_t>(range.dimensions);
  message.given = static_cast<uint8_t>((range.offset ? 1 : 0) | (range.local ? 2 : 0));
  copy(message.offset, range.offset, range.dimensions);
  copy(message.global, range.global, range.dimensions);
  copy(message.local, range.local, range.dimensions);
  message.args = changed_arguments(*kernel, c.sub_context());
  c.session().send(message, true);
  if (is_asked) c.require_taken();
  c.sent();
  shared.end();
  return CL_SUCCESS;
}

}  // namespace

namespace fn {

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                              const size_t* global, const size_t* local, cl_uint n, const cl_event* list,
                              cl_event* event) {
  return launch(queue, kernel, {dimensions, offset, global, local}, CL_COMMAND_NDRANGE_KERNEL, n, list, event);
}

cl_int clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint n, const cl_event* list, cl_event* event) {
  const size_t one = 1;
  return launch(queue, kernel, {1, nullptr, &one, &one}, CL_COMMAND_TASK, n, list, event);
}

}  // namespace fn
}  // namespace gt::virt
