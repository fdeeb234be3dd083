// What a device does not do as the recording's did: bridged where the calls mean the same then, else named.
#include <fmt/format.h>

#include <algorithm>

#include "tracer/gtrace/replay/device_limits.h"
#include "tracer/gtrace/replay/replayer.h"
#include "traces/api/print.h"

namespace gt::tracer {

using api::FnId;
using model::Arg;
using model::ArgForm;
using model::ObjectKind;

namespace {

bool is_too_large(int code) {
  return code == CL_INVALID_BUFFER_SIZE || code == CL_INVALID_IMAGE_SIZE || code == CL_MEM_OBJECT_ALLOCATION_FAILURE ||
         code == CL_OUT_OF_RESOURCES || code == CL_OUT_OF_HOST_MEMORY;
}

bool is_of_another_device(int code) {
  return code == CL_INVALID_BINARY || code == CL_INVALID_VALUE || code == CL_INVALID_DEVICE ||
         code == CL_INVALID_OPERATION;
}

bool takes_il(uint16_t fn) {
  return fn == static_cast<uint16_t>(FnId::clCreateProgramWithIL) ||
         fn == static_cast<uint16_t>(FnId::clCreateProgramWithILKHR);
}

Status with_reason(const Status& failed, const std::string& why) {
  return why.empty() ? failed : Status(failed.kind(), failed.text() + ": " + why, failed.code());
}

}  // namespace

// A call failed that had not failed in the recording. OK: it was made otherwise.
Status Replayer::bridge(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values,
                        AnyFunction function, const Status& failed) {
  const api::Attributes& a = plan.fn->attributes;
  const int code = failed.code();
  if (a.launch && (code == CL_INVALID_WORK_GROUP_SIZE || code == CL_INVALID_WORK_ITEM_SIZE))
    return bridge_work_group(shape, plan, values, function, failed);
  const bool binary = shape.fn == static_cast<uint16_t>(FnId::clCreateProgramWithBinary);
  if ((binary || takes_il(shape.fn)) && is_of_another_device(code))
    return bridge_binary(shape, plan, values, failed);
  // A queue that keeps its order is one of what a queue that need not may do.
  if (a.creates == ObjectKind::Queue && (code == CL_INVALID_QUEUE_PROPERTIES || code == CL_INVALID_VALUE) &&
      make_without("properties", shape, plan, values, function)) {
    world_.outcome.bridged("a queue has properties that this device does not have: it got one that keeps its order");
    return {};
  }
  const DeviceLimits limits(world_.cl, world_.devices.by_slot().front().device);
  if (a.options >= 0) {
    const auto program = reinterpret_cast<cl_program>(first_of(ObjectKind::Program, shape, plan, values));
    return with_reason(failed, program ? limits.build(program, source_of(program)) : "");
  }
  const bool makes = a.creates == ObjectKind::Buffer || a.creates == ObjectKind::Image;
  if (makes && code == CL_IMAGE_FORMAT_NOT_SUPPORTED && a.format >= 0) {
    const size_t at = plan.input_at[static_cast<size_t>(a.format)];
    const auto word = [&](size_t i) { return static_cast<uint64_t>(number_at(shape, plan, values, at + i)); };
    return with_reason(failed, "this device has no images of " + image_format_text(word(0), word(1)));
  }
  if (makes && is_too_large(code) && a.size >= 0)
    return with_reason(failed, limits.too_large(static_cast<uint64_t>(number_of(shape, plan, values, a.size))));
  return failed;
}

// Without a size the driver chooses one; that is the same as long as nothing in the kernel is made for the old one.
Status Replayer::bridge_work_group(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values,
                                   AnyFunction function, const Status& failed) {
  const auto kernel = reinterpret_cast<cl_kernel>(first_of(ObjectKind::Kernel, shape, plan, values));
  const auto queue = reinterpret_cast<cl_command_queue>(first_of(ObjectKind::Queue, shape, plan, values));
  cl_device_id device = nullptr;
  world_.cl.get<decltype(clGetCommandQueueInfo)>(FnId::clGetCommandQueueInfo)(queue, CL_QUEUE_DEVICE, sizeof device,
                                                                              &device, nullptr);
  const std::string why =
      DeviceLimits(world_.cl, device).work_group(kernel, world_.kernels.bindings(reinterpret_cast<uint64_t>(kernel)));
  if (!why.empty()) return with_reason(failed, "the work-group size is too large here, and stays because " + why);
  if (!make_without("local_work_size", shape, plan, values, function)) return failed;
  world_.outcome.bridged(fmt::format("kernel {}: its work-group size is too large here; the driver chose one",
                                     world_.trace.label(kernel_class(shape, plan))));
  return {};
}

// The call once more, with one parameter NULL, or 0. False: it fails still.
bool Replayer::make_without(const char* param, const model::Shape& shape, const ShapePlan& plan,
                            std::span<const int64_t> values, AnyFunction function) {
  encoder_.leave_out(param);
  const bool encoded = encoder_.encode(shape, plan, values, late_);
  encoder_.leave_out(nullptr);
  if (!encoded) return false;
  made_.clear();
  return invoke(shape.fn, function) == api::Invoked::Done &&
         api::decode_outputs(static_cast<FnId>(shape.fn), outputs_.view(), made_) && judge(plan, values).ok();
}

Status Replayer::bridge_binary(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values,
                               const Status& failed) {
  const char* const named = takes_il(shape.fn) ? "this device does not take the program's intermediate language"
                                               : "the binary is another device's";
  const auto output = std::find_if(plan.outputs.begin(), plan.outputs.end(), [&](uint16_t i) {
    return shape.args[i].form == ArgForm::Object && world_.trace.classes[shape.args[i].cls].kind == ObjectKind::Program;
  });
  if (output == plan.outputs.end()) return with_reason(failed, named);
  const Arg& program = shape.args[*output];
  const std::optional<ProgramSource> source = world_.sources.find(program.cls);
  if (!source)
    return with_reason(failed, fmt::format("{}, and the recording has no source, or several, of its kernels", named));
  const auto context = reinterpret_cast<cl_context>(first_of(ObjectKind::Context, shape, plan, values));
  const char* text = source->text.c_str();
  cl_int code = 0;
  const cl_program made = world_.cl.get<decltype(clCreateProgramWithSource)>(FnId::clCreateProgramWithSource)(
      context, 1, &text, nullptr, &code);
  if (!made) return with_reason(failed, named);
  made_.clear();
  const auto handle = reinterpret_cast<uint64_t>(made);
  world_.objects.set(program.cls, values[plan.value_at[*output]], handle);
  world_.sources.note_made(handle, source->options);
  world_.outcome.bridged(fmt::format("{}: built from the recorded source of {} instead", named,
                                     fmt::join(world_.sources.kernels_of(program.cls), ", ")));
  return {};
}

std::string Replayer::source_of(cl_program program) const {
  const auto ask = world_.cl.get<decltype(clGetProgramInfo)>(FnId::clGetProgramInfo);
  size_t size = 0;
  if (ask(program, CL_PROGRAM_SOURCE, 0, nullptr, &size) != CL_SUCCESS) return "";
  std::string text(size, '\0');
  return ask(program, CL_PROGRAM_SOURCE, size, text.data(), nullptr) == CL_SUCCESS ? text : "";
}

// clSVMAlloc tells by NULL.
Status Replayer::judge_svm(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) const {
  if (plan.fn->attributes.creates != ObjectKind::Svm || made_.empty() || made_.front().value != 0) return {};
  const bool recorded = std::any_of(plan.outputs.begin(), plan.outputs.end(), [&](uint16_t i) {
    return shape.args[i].cls != model::NoIndex && world_.trace.classes[shape.args[i].cls].kind == ObjectKind::Svm;
  });
  if (!recorded) return {};
  const DeviceLimits limits(world_.cl, world_.devices.by_slot().front().device);
  std::string why;
  if (shape.fn == static_cast<uint16_t>(FnId::clSVMAlloc)) {
    why = limits.svm(static_cast<cl_svm_mem_flags>(number_of(shape, plan, values, 1)));
    if (why.empty()) why = limits.too_large(static_cast<uint64_t>(number_of(shape, plan, values, 2)));
  }
  return with_reason({Kind::OpenCl, fmt::format("call T{} #{}, {}: NULL instead of memory", shape.thread, number_,
                                                api::function_name(shape.fn))},
                     why);
}

}  // namespace gt::tracer
