// clEnqueueNDRangeKernel and clEnqueueTask: arguments that changed go along; and what size the driver suggests.
#include <CL/cl_ext.h>

#include <algorithm>

#include "optimizer-rt/client/base/answers.h"
#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/calls/arguments.h"
#include "optimizer-rt/client/calls/command.h"
#include "optimizer-rt/client/calls/recording.h"
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

// What an update of the command may change: not what it reaches through pointers, which does not travel with one.
void check_updatable(_cl_device_id& device, const cl_ndrange_kernel_command_properties_khr* list) {
  const auto able = device.number<cl_bitfield>(CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR);
  for (; list && *list != 0; list += 2)
    require(list[0] != CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR || (list[1] & ~able) == 0, CL_INVALID_OPERATION);
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

void check_place(const _cl_command_queue& queue, const _cl_kernel& kernel) {
  require(queue.context.get() == kernel.program->context.get(), CL_INVALID_CONTEXT);
  const auto& devices = kernel.program->devices;
  require(std::find(devices.begin(), devices.end(), queue.device.get()) != devices.end(),
          CL_INVALID_PROGRAM_EXECUTABLE);
}

cl_int launch(cl_command_queue queue, cl_kernel kernel, const Range& range, cl_command_type type, cl_uint n,
              const cl_event* list, cl_event* event) {
  check(queue);
  check(kernel);
  check_place(*queue, *kernel);
  check_range(*kernel, *queue->device, range);
  Command c(queue, type, n, list, event);
  const MutexLock lock(kernel->mutex);
  if (is_empty(range)) return do_without_work(c, *kernel);
  use_arguments(*kernel, c);
  use_shared(*kernel, c.shared());
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
  return c.sent();
}

// Arguments travel with launches: where there is none, and a Call's driver looks at them, they go ahead of that. Nobody
// answers; the Call tells how they were.
void send_arguments(_cl_kernel& kernel, SubContext& sub_context) GT_REQUIRES(kernel.mutex) {
  wire::Launch message;
  message.kernel = kernel.at(sub_context);
  message.args = changed_arguments(kernel, sub_context);
  if (!message.args.empty()) sub_context.session.send(message, true);
}

// Of contents, for who only asks whether the arguments are sound.
struct NoUse {
  void reads(_cl_mem&) {}
  void writes(_cl_mem&) {}
};

}  // namespace

namespace fn {

cl_int clGetKernelSuggestedLocalWorkSize(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                         const size_t* offset, const size_t* global, size_t* suggested) {
  check(queue);
  check(kernel);
  check_place(*queue, *kernel);
  check_range(*kernel, *queue->device, {dimensions, offset, global, nullptr});
  require(!is_empty({dimensions, offset, global, nullptr}), CL_INVALID_GLOBAL_WORK_SIZE);
  require(suggested, CL_INVALID_VALUE);
  SubContext& sub_context = queue->sub_context;
  {
    const MutexLock lock(kernel->mutex);
    NoUse nothing;
    use_arguments(*kernel, nothing);
    send_arguments(*kernel, sub_context);
  }
  const Bytes outputs = sub_context.session.ask<api::FnId::clGetKernelSuggestedLocalWorkSize>(
      {}, as<cl_command_queue>(queue->name), as<cl_kernel>(kernel->at(sub_context)), dimensions, offset, global,
      suggested);
  const CallAnswer answer = answer_of(api::FnId::clGetKernelSuggestedLocalWorkSize, outputs);
  require_success(answer.code);
  const std::vector<uint64_t> sizes = answer.numbers(5);
  std::copy_n(sizes.begin(), std::min<size_t>(sizes.size(), dimensions), suggested);
  return CL_SUCCESS;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                              const size_t* global, const size_t* local, cl_uint n, const cl_event* list,
                              cl_event* event) {
  return launch(queue, kernel, {dimensions, offset, global, local}, CL_COMMAND_NDRANGE_KERNEL, n, list, event);
}

cl_int clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint n, const cl_event* list, cl_event* event) {
  const size_t one = 1;
  return launch(queue, kernel, {1, nullptr, &one, &one}, CL_COMMAND_TASK, n, list, event);
}

cl_int clCommandNDRangeKernelKHR(cl_command_buffer_khr buffer, cl_command_queue queue,
                                 const cl_ndrange_kernel_command_properties_khr* properties, cl_kernel kernel,
                                 cl_uint dimensions, const size_t* offset, const size_t* global, const size_t* local,
                                 cl_uint n, const cl_sync_point_khr* list, cl_sync_point_khr* point,
                                 cl_mutable_command_khr* handle) {
  Recording r(buffer, queue, n, list, point, handle);
  check(kernel);
  check_place(r.queue(), *kernel);
  check_range(*kernel, *r.queue().device, {dimensions, offset, global, local});
  check_updatable(*r.queue().device, properties);
  const MutexLock lock(kernel->mutex);
  use_arguments(*kernel, r);
  tell_reaches(*kernel, r.sub_context());
  send_arguments(*kernel, r.sub_context());
  r.use_kernel(*kernel);
  return r.record<api::FnId::clCommandNDRangeKernelKHR>(properties, as<cl_kernel>(kernel->at(r.sub_context())),
                                                        dimensions, offset, global, local);
}

}  // namespace fn
}  // namespace gt::virt
