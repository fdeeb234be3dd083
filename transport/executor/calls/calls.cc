#include "transport/executor/calls/calls.h"

#include <algorithm>
#include <utility>

#include "traces/api/api.h"
#include "transport/executor/base/driver_lock.h"
#include "transport/executor/calls/allocations.h"
#include "transport/executor/calls/call_rules.h"
#include "transport/executor/calls/launches.h"
#include "transport/usm/functions.h"

namespace gt::exec {
namespace {

using api::FnId;

FnId fn_of(const wire::Call& call) { return static_cast<FnId>(call.fn); }
const api::FnInfo& info_of(const wire::Call& call) { return api::fn_info(call.fn); }

bool is_barrier(FnId fn) { return fn == FnId::clEnqueueBarrierWithWaitList || fn == FnId::clEnqueueBarrier; }

// The parameter through which the call gives an event; -1: none.
int event_param(const api::FnInfo& info) {
  for (int i = info.param_count - 1; i >= 0; --i)
    if (info.params[i].out == api::Wire::Handles && info.params[i].kind == ObjectKind::Event) return i;
  return -1;
}

bool is_given(std::span<const api::DecodedArg> args, int param) {
  return std::any_of(args.begin(), args.end(),
                     [&](const api::DecodedArg& a) { return a.param == param && a.tag != api::Tag::Null; });
}

}  // namespace

// check() has seen to it that addresses are those of blocks that are there.
uint64_t Calls::object(ObjectKind kind, uint64_t name) {
  if (kind == ObjectKind::Svm) return name;
  if (const cl_kernel own = extensions_.recorded_kernel(); own && kind == ObjectKind::Kernel)
    return reinterpret_cast<uint64_t>(own);
  const Object* const found = commands_.objects().find(name, kind);
  return found ? reinterpret_cast<uint64_t>(found->handle) : 0;
}

void* Calls::memory(uint64_t address, uint64_t length) {
  return commands_.objects().find_svm(address, length) ? reinterpret_cast<void*>(address) : nullptr;
}

cl_int Calls::check(const wire::Call& call) {
  const FnId fn = fn_of(call);
  if (!may_call(fn)) return CL_INVALID_OPERATION;
  if (!api::decode_inputs(fn, call.inputs, args_)) return CL_INVALID_VALUE;
  if (const cl_int code = check_call(fn, args_, commands_.objects()); code != CL_SUCCESS) return code;
  if (fn == FnId::clSetKernelArg && !sets_value()) return CL_INVALID_ARG_VALUE;
  if (const cl_int code = extensions_.check(fn, args_); code != CL_SUCCESS) return code;
  return check_names(call);
}

// A number where the kernel has a pointer would be taken for a handle by the driver: objects come with launches.
// Without a value it is a question, of what size the driver allows.
bool Calls::sets_value() {
  Object* const kernel = commands_.objects().find(args_[0].value, ObjectKind::Kernel);
  if (!kernel->kernel) kernel->kernel = kernel_facts(commands_.cl(), kernel->as<cl_kernel>());
  const std::vector<wire::ArgInfo::Kind>& kinds = kernel->kernel->args;
  const uint64_t index = value_of(args_, 1), size = value_of(args_, 2);
  if (index >= kinds.size() || size == 0) return false;
  if (!is_given(args_, 3)) return true;
  return kinds[index] == wire::ArgInfo::Kind::Value || kinds[index] == wire::ArgInfo::Kind::Unknown;
}

cl_int Calls::check_names(const wire::Call& call) {
  const api::FnInfo& info = info_of(call);
  if (call.event != 0) {
    const int param = event_param(info);
    if (param < 0 || !is_given(args_, param)) return CL_INVALID_VALUE;
    if (const cl_int code = commands_.objects().may_name(call.event); code != CL_SUCCESS) return code;
  }
  const uint64_t most = commands_.session().limits.memory_bytes;
  const bool own = !(value_of(args_, info.attributes.flags) & CL_MEM_USE_HOST_PTR);  // not over SVM
  if (most != 0 && own && info.result.out == api::Wire::Handle &&
      value_of(args_, info.attributes.size) > most - std::min<uint64_t>(most, commands_.session().count.memory_bytes))
    return CL_MEM_OBJECT_ALLOCATION_FAILURE;  // before the driver makes it
  if (call.result == 0 && info.result.out != api::Wire::Handle) return CL_SUCCESS;  // lists need not be named
  if (call.result == call.event) return CL_INVALID_VALUE;
  // Several: as many as the array has room for, which is the parameter before it.
  uint64_t count = 1;
  for (uint16_t i = 1; i < info.param_count; ++i) {
    const api::ParamInfo& param = info.params[i];
    if (param.out == api::Wire::Handles && param.kind != ObjectKind::Event && param.effect == api::Effect::Def)
      count = std::max<uint64_t>(1, value_of(args_, i - 1));
  }
  return commands_.objects().may_name(call.result, count);
}

void Calls::run(const wire::Call& call) {
  Session& session = commands_.session();
  ++session.count.calls;
  outputs_.view().clear();
  const FnId fn = fn_of(call);
  cl_int code = check(call);
  const bool valid = code == CL_SUCCESS;
  if (valid) {
    const ObjectKind released = info_of(call).attributes.releases;
    code = released != ObjectKind::Unknown ? release(value_of(args_, 0), released) : make(call);
  }
  const std::shared_ptr<Queue> runs_in = valid ? extensions_.queue(fn, args_) : nullptr;
  const ObjectId object = call.result ? call.result : runs_in ? runs_in->name : args_.empty() ? 0 : args_[0].value;
  if (code != CL_SUCCESS && (call.reply == 0 || call.event != 0)) commands_.fail(fn, code, object, call.event);
  if (call.reply == 0) return;
  if (outputs_.view().empty()) outputs_.view() = failed_outputs(fn, code);
  session.out.send(wire::Reply{call.reply, outputs_.view()});
}

cl_int Calls::release(ObjectId id, ObjectKind kind) {
  if (id >= wire::FirstSurveyed) return invalid(kind);
  if (kind == ObjectKind::Context && commands_.context_released)
    commands_.context_released(commands_.objects().find(id, kind)->as<cl_context>());
  commands_.objects().remove(id);
  return CL_SUCCESS;
}

cl_int Calls::make(const wire::Call& call) {
  const FnId fn = fn_of(call);
  if (allocates_block(fn)) return allocate(fn, call, args_, commands_, outputs_);
  if (fn == FnId::clSVMFree || fn == FnId::clMemFreeINTEL) {
    commands_.objects().remove_svm(value_of(args_, 1));
    return CL_SUCCESS;
  }
  if (fn == FnId::clGetProgramInfo && value_of(args_, 1) == CL_PROGRAM_BINARIES) return binaries(call);
  if (fn == FnId::clEnqueueMapBuffer) return map_nothing();
  const AnyFunction function = function_of(fn);
  if (!function) return CL_INVALID_OPERATION;
  queue_ = queue_of_call(fn);
  enqueued_ns_ = queue_ ? Commands::when(*queue_) : 0;
  const api::Invoked invoked = invoke(fn, call.inputs, function);
  const bool migrates = fn == FnId::clEnqueueMigrateMemObjects || fn == FnId::clEnqueueSVMMigrateMem;
  if (migrates && invoked == api::Invoked::Done && queue_) keep_arguments(*queue_);
  context_.arena.clear();
  if (invoked != api::Invoked::Done) {
    extensions_.drop_kernel();
    outputs_.view().clear();
    return invoked == api::Invoked::TooLarge ? CL_OUT_OF_HOST_MEMORY : CL_INVALID_VALUE;
  }
  const cl_int code = code_of(fn, outputs_.view());
  next_ = call.result;
  naming_ = CL_SUCCESS;
  rename_handles(fn, outputs_.view(), [&](const OutHandle& out) { return take_handle(call, out); });
  if (naming_ != CL_SUCCESS) outputs_.view().clear();
  if (code == CL_SUCCESS && naming_ == CL_SUCCESS) note_effects(call);
  extensions_.drop_kernel();
  return code != CL_SUCCESS ? code : naming_;
}

// Functions of extensions, too. The suggested size is that of a driver of OpenCL 3.1, or of one with the extension: the
// parameters are the same.
AnyFunction Calls::function_of(FnId fn) {
  const Cl& cl = commands_.cl();
  const AnyFunction function = commands_.session().all[fn];
  if (fn == FnId::clSetKernelArgDevicePointerEXT) {
    const auto kernel = commands_.objects().find(args_[0].value, ObjectKind::Kernel)->as<cl_kernel>();
    const auto context = Cl::ask<cl_context>(cl.clGetKernelInfo, kernel, CL_KERNEL_CONTEXT);
    return extension_function(commands_.session(), device_of(commands_.session(), context), fn);
  }
  if (api::fn_info(static_cast<uint16_t>(fn)).attributes.extension) return extensions_.function(fn, args_);
  if (fn == FnId::clSetKernelExecInfo && commands_.session().usm)
    return reinterpret_cast<AnyFunction>(usm::exec_info_function(*commands_.session().usm));
  if (fn != FnId::clGetKernelSuggestedLocalWorkSize) return function;
  const std::shared_ptr<Queue> queue = queue_of_call(fn);
  const auto device = queue ? Cl::ask<cl_device_id>(cl.clGetCommandQueueInfo, queue->handle, CL_QUEUE_DEVICE) : nullptr;
  if (!device) return nullptr;
  const auto version = Cl::ask<cl_version>(cl.clGetDeviceInfo, device, CL_DEVICE_NUMERIC_VERSION);
  if (function && version >= CL_MAKE_VERSION(3, 1, 0)) return function;
  return extension_function(commands_.session(), device, FnId::clGetKernelSuggestedLocalWorkSizeKHR);
}

api::Invoked Calls::invoke(FnId fn, ByteView inputs, AnyFunction function) {
  std::unique_lock<Mutex> lock;
  if (queue_) lock = lock_driver(commands_.session(), *queue_);
  return api::invoke(fn, inputs, function, context_, outputs_);
}

// What the call made gets its name; what it tells of is told by name.
uint64_t Calls::take_handle(const wire::Call& call, const OutHandle& out) {
  Objects& objects = commands_.objects();
  auto* const handle = reinterpret_cast<void*>(out.value);
  if (!out.made) return objects.name_of(out.kind, handle);
  if (out.kind == ObjectKind::Event && !out.returned) {
    if (call.event == 0 || !queue_) {
      objects.release(out.kind, handle);
      return 0;
    }
    commands_.name_event(call.event, static_cast<cl_event>(handle), queue_, enqueued_ns_);
    return call.event;
  }
  if (next_ == 0) {
    objects.release(out.kind, handle);
    return 0;
  }
  const ObjectId id = next_++;
  const cl_int code = commands_.name(id, out.kind, handle);
  if (code == CL_SUCCESS) return id;
  naming_ = code;
  return 0;
}

std::shared_ptr<Queue> Calls::queue_of_call(FnId fn) {
  if (std::shared_ptr<Queue> queue = extensions_.queue(fn, args_)) return queue;
  if (args_.empty() || args_[0].tag != api::Tag::Handle || args_[0].kind != ObjectKind::Queue) return nullptr;
  const Object* const queue = commands_.objects().find(args_[0].value, ObjectKind::Queue);
  return queue ? queue->queue : nullptr;
}

void Calls::note_effects(const wire::Call& call) {
  const FnId fn = fn_of(call);
  if (fn == FnId::clSetUserEventStatus) commands_.objects().note_status(args_[0].value);
  usm::EmulatedUsm* const usm = commands_.session().usm;
  if (fn == FnId::clCloneKernel && usm)
    usm->kernel_cloned(commands_.objects().find(args_[0].value, ObjectKind::Kernel)->as<cl_kernel>(),
                       commands_.objects().find(call.result, ObjectKind::Kernel)->as<cl_kernel>());
  if (info_of(call).attributes.extension) extensions_.note(fn, args_, outputs_.view(), call.result);
  if (is_barrier(fn) && queue_ && !queue_->in_order) note_barrier(*queue_);
}

// NVIDIA's driver (580.159) reads the list of a migration when the command runs, not at the call: it stays until then.
void Calls::keep_arguments(Queue& queue) {
  const Cl& cl = commands_.cl();
  Awaited behind;
  if (cl.clEnqueueMarkerWithWaitList(queue.handle, 0, nullptr, &behind.event) != CL_SUCCESS) return;
  behind.then = make_then([kept = std::exchange(context_.arena, api::Arena(ArenaBytes))](cl_int, News&) mutable {
    kept.clear();
  });
  commands_.event_waiter()->await(std::move(behind));
}

// A marker right behind the barrier is over when the barrier is.
void Calls::note_barrier(Queue& queue) {
  const Cl& cl = commands_.cl();
  cl_event marker = nullptr;
  if (cl.clEnqueueMarkerWithWaitList(queue.handle, 0, nullptr, &marker) != CL_SUCCESS) return;
  if (queue.last_barrier) cl.clReleaseEvent(queue.last_barrier);
  queue.last_barrier = marker;
}

// Does the driver take it? The pointer stays here, and whether there is one is told.
cl_int Calls::map_nothing() {
  const Functions& all = commands_.session().all;
  const auto map = reinterpret_cast<decltype(&::clEnqueueMapBuffer)>(all[FnId::clEnqueueMapBuffer]);
  const auto unmap = reinterpret_cast<decltype(&::clEnqueueUnmapMemObject)>(all[FnId::clEnqueueUnmapMemObject]);
  const std::shared_ptr<Queue> queue = queue_of_call(FnId::clEnqueueMapBuffer);
  Object* const mem = commands_.objects().find(args_[1].value, ObjectKind::Buffer);
  cl_int code = CL_INVALID_OPERATION;
  void* p = nullptr;
  if (map && unmap && queue && mem) {
    const auto lock = lock_driver(commands_.session(), *queue);
    const auto handle = mem->as<cl_mem>();
    p = map(queue->handle, handle, CL_FALSE, CL_MAP_READ, 0, 0, 0, nullptr, nullptr, &code);
    if (p) unmap(queue->handle, handle, p, 0, nullptr, nullptr);
  }
  outputs_.view() = failed_outputs(FnId::clEnqueueMapBuffer, code);
  const uint64_t some = p != nullptr;
  std::memcpy(outputs_.view().data(), &some, sizeof some);  // where the pointer would be
  return CL_SUCCESS;
}

// The answer in C is a list of pointers; here it is the binaries themselves, one after the other.
cl_int Calls::binaries(const wire::Call& call) {
  const Cl& cl = commands_.cl();
  const auto program = commands_.objects().find(args_[0].value, ObjectKind::Program)->as<cl_program>();
  const auto devices = Cl::ask<cl_uint>(cl.clGetProgramInfo, program, CL_PROGRAM_NUM_DEVICES);
  std::vector<size_t> sizes(devices);
  const size_t room = devices * sizeof(size_t);
  cl_int code = cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, room, sizes.data(), nullptr);
  if (code != CL_SUCCESS) return code;
  size_t total = 0;
  for (const size_t size : sizes) total += size;
  if (total > commands_.session().limits.message_bytes) return CL_OUT_OF_HOST_MEMORY;
  Bytes all(total);
  std::vector<uint8_t*> places;
  for (size_t i = 0, at = 0; i < devices; at += sizes[i++]) places.push_back(sizes[i] ? all.data() + at : nullptr);
  code = cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, room, places.data(), nullptr);
  if (code != CL_SUCCESS) return code;
  outputs_.word(0);
  outputs_.word(api::InfoBytes);
  outputs_.bytes(all.data(), all.size());
  const bool wants_size = is_given(args_, info_of(call).param_count - 1);
  outputs_.word(wants_size ? 1 : api::NullWord);
  if (wants_size) outputs_.word(total);
  return CL_SUCCESS;
}

}  // namespace gt::exec
