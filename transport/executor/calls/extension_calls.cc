#include "transport/executor/calls/extension_calls.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "traces/api/api.h"
#include "traces/api/later_forms.h"
#include "transport/executor/calls/call_rules.h"
#include "transport/executor/calls/launches.h"

namespace gt::exec {
namespace {

using api::FnId;
using api::Tag;

constexpr cl_int NotSyncPoints = CL_INVALID_SYNC_POINT_WAIT_LIST_KHR;

bool records(FnId fn) {
  return api::fn_info(static_cast<uint16_t>(fn)).attributes.records || fn == FnId::clCommandBarrierWithWaitListKHR;
}

// What the client knows itself. PoCL 3.1 answers both with what lies in its memory.
bool is_clients(cl_command_buffer_info_khr name) {
  return name == CL_COMMAND_BUFFER_QUEUES_KHR || name == CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR;
}

// The parameter with sync points to wait for; the one before it says how many. The one behind it is given one.
int sync_points_param(FnId fn) {
  const api::FnInfo& info = api::fn_info(static_cast<uint16_t>(fn));
  for (int i = 0; i < info.param_count; ++i)
    if (info.params[i].in == api::Wire::Ints && std::string_view(info.params[i].group) == "cl_sync_point_khr") return i;
  return -1;
}

// The driver's function behind the one that is called. Of this thread: others may serve other clients.
thread_local AnyFunction later_form = nullptr;
AnyFunction behind(FnId) { return later_form; }

const api::DecodedArg* first_handle(ExtensionCalls::Args args, ObjectKind kind) {
  const auto it = std::find_if(args.begin(), args.end(), [kind](const api::DecodedArg& arg) {
    return arg.tag == Tag::Handle && arg.kind == kind;
  });
  return it == args.end() ? nullptr : &*it;
}

}  // namespace

std::shared_ptr<const ExtensionDriver> ExtensionCalls::driver(cl_device_id device) {
  std::shared_ptr<const ExtensionDriver>& known = drivers_[device];
  if (!known) known = std::make_shared<ExtensionDriver>(commands_.session(), device);
  return known;
}

CommandBuffer* ExtensionCalls::command_buffer(const api::DecodedArg& arg) {
  const Object* const object = commands_.objects().find(arg.value, arg.kind);
  return object ? object->command_buffer.get() : nullptr;
}

// Of whose device: a command buffer's, a semaphore's, else the queue's or the context's first.
std::shared_ptr<const ExtensionDriver> ExtensionCalls::driver(FnId, Args args) {
  for (const ObjectKind kind : {ObjectKind::CommandBuffer, ObjectKind::MutableCommand})
    if (const api::DecodedArg* const arg = first_handle(args, kind)) {
      const CommandBuffer* const buffer = command_buffer(*arg);
      return buffer ? buffer->driver : nullptr;
    }
  Objects& objects = commands_.objects();
  if (const api::DecodedArg* const arg = first_handle(args, ObjectKind::Semaphore))
    return objects.find(arg->value, arg->kind)->driver;
  if (const api::DecodedArg* const arg = first_handle(args, ObjectKind::Queue))
    return driver(objects.find(arg->value, arg->kind)->queue->device);
  const api::DecodedArg* const context = first_handle(args, ObjectKind::Context);
  if (!context) return nullptr;
  const auto handle = objects.find(context->value, context->kind)->as<cl_context>();
  const cl_device_id device = device_of(commands_.session(), handle);
  return device ? driver(device) : nullptr;
}

cl_int ExtensionCalls::check(FnId fn, Args args) {
  if (fn == FnId::clGetCommandBufferInfoKHR && is_clients(static_cast<cl_command_buffer_info_khr>(value_of(args, 1))))
    return CL_INVALID_VALUE;
  if (!records(fn)) return CL_SUCCESS;
  const CommandBuffer* const buffer = command_buffer(args[0]);
  if (!buffer) return CL_INVALID_COMMAND_BUFFER_KHR;
  const int param = sync_points_param(fn);
  uint64_t points = 0;
  for (const api::DecodedArg& arg : args) {
    if (arg.param != param || arg.tag != Tag::Int) continue;
    if (!buffer->has(static_cast<cl_sync_point_khr>(arg.value))) return NotSyncPoints;
    ++points;
  }
  if (points != value_of(args, param - 1)) return NotSyncPoints;
  return fn == FnId::clCommandNDRangeKernelKHR ? check_launch(args) : CL_SUCCESS;
}

// PoCL 3.1 looks at none of this.
cl_int ExtensionCalls::check_launch(Args args) {
  constexpr int Dimensions = 4, Global = 6;
  const api::DecodedArg* const arg = first_handle(args, ObjectKind::Kernel);
  if (!arg) return CL_INVALID_KERNEL;
  const Object& kernel = *commands_.objects().find(arg->value, arg->kind);
  if (kernel.refused != CL_SUCCESS) return kernel.refused;
  const std::shared_ptr<KernelFacts> facts =
      kernel.kernel ? kernel.kernel : kernel_facts(commands_.cl(), kernel.as<cl_kernel>());
  if (!std::ranges::all_of(facts->given, std::identity())) return CL_INVALID_KERNEL_ARGS;
  const uint64_t dimensions = value_of(args, Dimensions);
  if (dimensions < 1 || dimensions > 3) return CL_INVALID_WORK_DIMENSION;
  const bool sized = std::ranges::any_of(args, [](const auto& a) { return a.param == Global && a.tag == Tag::Int; });
  return sized ? CL_SUCCESS : CL_INVALID_GLOBAL_WORK_SIZE;
}

AnyFunction ExtensionCalls::function(FnId fn, Args args) {
  const std::shared_ptr<const ExtensionDriver> driver = this->driver(fn, args);
  if (!driver) return nullptr;
  if (fn == FnId::clCommandNDRangeKernelKHR) take_kernel(args);
  later_form = (*driver)[fn];
  const bool differs = later_form && driver->commands_have_properties() && api::lacks_properties(fn);
  return differs ? api::without_properties<&behind>(fn) : later_form;
}

void ExtensionCalls::take_kernel(Args args) {
  drop_kernel();
  const auto clone = reinterpret_cast<decltype(&::clCloneKernel)>(commands_.session().all[FnId::clCloneKernel]);
  const api::DecodedArg* const arg = first_handle(args, ObjectKind::Kernel);
  if (!clone || !arg) return;
  const auto kernel = commands_.objects().find(arg->value, arg->kind)->as<cl_kernel>();
  if (usm::EmulatedUsm* const usm = commands_.session().usm) usm->tell(kernel);
  cl_int code = CL_SUCCESS;
  recorded_kernel_ = clone(kernel, &code);
}

void ExtensionCalls::drop_kernel() {
  if (const cl_kernel kernel = std::exchange(recorded_kernel_, nullptr)) commands_.cl().clReleaseKernel(kernel);
}

std::shared_ptr<Queue> ExtensionCalls::queue(FnId fn, Args args) {
  if (fn != FnId::clEnqueueCommandBufferKHR) return nullptr;
  if (const api::DecodedArg* const given = first_handle(args, ObjectKind::Queue))
    return commands_.objects().find(given->value, given->kind)->queue;
  const api::DecodedArg* const arg = first_handle(args, ObjectKind::CommandBuffer);
  const CommandBuffer* const buffer = arg ? command_buffer(*arg) : nullptr;
  return buffer && !buffer->queues.empty() ? buffer->queues[0] : nullptr;
}

void ExtensionCalls::note(FnId fn, Args args, ByteView outputs, ObjectId result) {
  Objects& objects = commands_.objects();
  if (fn == FnId::clCreateSemaphoreWithPropertiesKHR)
    objects.find(result, ObjectKind::Semaphore)->driver = driver(fn, args);
  if (fn == FnId::clCreateCommandBufferKHR) {
    Object& made = *objects.find(result, ObjectKind::CommandBuffer);
    made.command_buffer =
        std::make_shared<CommandBuffer>(commands_.cl(), driver(fn, args), made.as<cl_command_buffer_khr>());
    for (const api::DecodedArg& arg : args)
      if (arg.kind == ObjectKind::Queue && arg.tag == Tag::Handle)
        made.command_buffer->queues.push_back(objects.find(arg.value, arg.kind)->queue);
  }
  if (!records(fn)) return;
  Object& buffer = *objects.find(args[0].value, ObjectKind::CommandBuffer);
  if (recorded_kernel_) buffer.command_buffer->kernels.push_back(std::exchange(recorded_kernel_, nullptr));
  std::vector<api::DecodedArg> told;
  api::decode_outputs(fn, outputs, told);
  for (const api::DecodedArg& out : told)
    if (out.param == sync_points_param(fn) + 1 && out.tag == Tag::Int)
      buffer.command_buffer->sync_points.insert(static_cast<cl_sync_point_khr>(out.value));
  Object* const command = result ? objects.find(result, ObjectKind::MutableCommand) : nullptr;
  if (!command) return;
  if (const api::DecodedArg* const arg = first_handle(args, ObjectKind::Kernel)) {
    Object& kernel = *objects.find(arg->value, arg->kind);
    if (!kernel.kernel) kernel.kernel = kernel_facts(commands_.cl(), kernel.as<cl_kernel>());
    command->kernel = kernel.kernel;
  }
  command->command_buffer = buffer.command_buffer;
  buffer.command_buffer->commands.push_back(result);
}

}  // namespace gt::exec
