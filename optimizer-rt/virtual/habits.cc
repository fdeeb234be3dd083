#include "optimizer-rt/virtual/habits.h"

#include <cctype>

#include "optimizer-rt/virtual/answers.h"
#include "optimizer-rt/virtual/context.h"
#include "optimizer-rt/virtual/event.h"
#include "optimizer-rt/virtual/gate.h"

namespace gt::virt {

using api::FnId;

template <class Answers, class Question, class Ask>
auto Habits::known(Answers& answers, const Question& question, Ask ask) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = answers.find(question); it != answers.end()) return it->second;
  }
  const auto answer = ask();
  const std::lock_guard lock(mutex_);
  answers[question] = answer;
  return answer;
}

cl_int Habits::on_nothing(FnId command) {
  return known(on_nothing_, command, [&] { return ask_on_nothing(command, nullptr); });
}
cl_int Habits::on_nothing(FnId command, void* svm) {
  return known(on_nothing_, command, [&] { return ask_on_nothing(command, svm); });
}

cl_int Habits::ask_on_nothing(FnId command, void* svm) {
  constexpr cl_event* Unwanted = nullptr;
  const auto queue = as<cl_command_queue>(place_.service_queue());
  const uint32_t pattern = 0;
  switch (command) {
    case FnId::clEnqueueReadBuffer: return transfer_nothing(false);
    case FnId::clEnqueueWriteBuffer: return transfer_nothing(true);
    case FnId::clEnqueueCopyBuffer: return copy_nothing();
    case FnId::clEnqueueFillBuffer: return fill_nothing();
    case FnId::clEnqueueSVMMemcpy:
      return answer_of(command, place_.session.ask<FnId::clEnqueueSVMMemcpy>(
                                    {}, queue, cl_bool{CL_FALSE}, svm, static_cast<const void*>(svm), size_t{0},
                                    cl_uint{0}, static_cast<const cl_event*>(nullptr), Unwanted))
          .code;
    default:
      return answer_of(command, place_.session.ask<FnId::clEnqueueSVMMemFill>(
                                    {}, queue, svm, static_cast<const void*>(&pattern), sizeof pattern, size_t{0},
                                    cl_uint{0}, static_cast<const cl_event*>(nullptr), Unwanted))
          .code;
  }
}

cl_int Habits::transfer_nothing(bool to_device) {
  const Ref<_cl_event> event = make<_cl_event>(place_.context, place_);
  const auto fill_in = [&](auto& message) {
    message.queue = place_.service_queue();
    message.mem = place_.scratch();
    message.event = event->name;
    message.transfer = place_.session.new_transfer();
    message.part.region = {0, 1, 1};
    place_.session.send(message);
  };
  wire::Write write;
  wire::Read read;
  to_device ? fill_in(write) : fill_in(read);
  return event->wait();
}

cl_int Habits::copy_nothing() {
  Session& session = place_.session;
  const ObjectId other = session.new_id();
  cl_int errcode = 0;
  session.call<FnId::clCreateBuffer>({other}, as<cl_context>(place_.name), cl_mem_flags{CL_MEM_READ_WRITE},
                                     Place::ScratchBytes, static_cast<void*>(nullptr), &errcode);
  const Bytes outputs = session.ask<FnId::clEnqueueCopyBuffer>(
      {}, as<cl_command_queue>(place_.service_queue()), as<cl_mem>(place_.scratch()), as<cl_mem>(other), size_t{0},
      size_t{0}, size_t{0}, cl_uint{0}, static_cast<const cl_event*>(nullptr), static_cast<cl_event*>(nullptr));
  session.call<FnId::clReleaseMemObject>({}, as<cl_mem>(other));
  return answer_of(FnId::clEnqueueCopyBuffer, outputs).code;
}

cl_int Habits::fill_nothing() {
  const uint32_t pattern = 0;
  const Bytes outputs = place_.session.ask<FnId::clEnqueueFillBuffer>(
      {}, as<cl_command_queue>(place_.service_queue()), as<cl_mem>(place_.scratch()),
      static_cast<const void*>(&pattern), sizeof pattern, size_t{0}, size_t{0}, cl_uint{0},
      static_cast<const cl_event*>(nullptr), static_cast<cl_event*>(nullptr));
  return answer_of(FnId::clEnqueueFillBuffer, outputs).code;
}

// What host memory it has, and what the host may do, makes no difference to a driver beyond being something.
bool Habits::adds_access(cl_mem_flags flags, bool image) {
  const cl_mem_flags like = flags == 0 ? 0 : CL_MEM_ALLOC_HOST_PTR;
  return known(adds_access_, std::make_pair(like, image), [&] { return ask_adds_access(like, image); });
}

bool Habits::ask_adds_access(cl_mem_flags flags, bool image) {
  Session& session = place_.session;
  const ObjectId mem = session.new_id();
  cl_int errcode = 0;
  if (image) {
    const cl_image_format format{CL_RGBA, CL_UNORM_INT8};  // every device with images has it
    cl_image_desc desc{};
    desc.image_type = CL_MEM_OBJECT_IMAGE2D;
    desc.image_width = desc.image_height = 1;
    session.call<FnId::clCreateImage>({mem}, as<cl_context>(place_.name), flags, &format,
                                      static_cast<const cl_image_desc*>(&desc), static_cast<void*>(nullptr), &errcode);
  } else {
    session.call<FnId::clCreateBuffer>({mem}, as<cl_context>(place_.name), flags, Place::ScratchBytes,
                                       static_cast<void*>(nullptr), &errcode);
  }
  size_t size = 0;
  int wanted = 0;  // only whether there is a pointer goes along
  const Bytes outputs = session.ask<FnId::clGetMemObjectInfo>({}, as<cl_mem>(mem), cl_mem_info{CL_MEM_FLAGS},
                                                              sizeof flags, static_cast<void*>(&wanted), &size);
  session.call<FnId::clReleaseMemObject>({}, as<cl_mem>(mem));
  const InfoAnswer answer = info_of(FnId::clGetMemObjectInfo, outputs);
  if (answer.value.size() == sizeof flags) std::memcpy(&flags, answer.value.data(), sizeof flags);
  return flags & CL_MEM_READ_WRITE;
}

// A program of one kernel.
struct Habits::Trial {
  bool built = false, told = false;
  std::string options;  // as the driver tells them
};

wire::Built Habits::trial_step(wire::Build message, const BuildOptions& options) {
  message.how = options ? wire::Build::Options::Exact : wire::Build::Options::None;
  message.options = options.value_or("");
  message.devices = {place_.devices[0]->name};
  struct Answer {
    Gate gate;
    wire::Built built;
  };
  const auto answer = std::make_shared<Answer>();
  place_.session.build(message, [answer](const wire::Built& built) {
    answer->built = built;
    answer->gate.open();
  });
  answer->gate.wait();
  return answer->built;
}

Habits::Trial Habits::build_trial(const BuildWay& way, bool wants_options) {
  constexpr const char* Source = "kernel void gtrace_trial(global int* a) { a[0] = 1; }\n";
  Session& session = place_.session;
  const ObjectId program = session.new_id(), linked = session.new_id();
  const char* text = Source;
  const size_t length = std::strlen(Source);
  cl_int errcode = 0;
  session.call<FnId::clCreateProgramWithSource>({program}, as<cl_context>(place_.name), cl_uint{1}, &text, &length,
                                                &errcode);
  wire::Build message;
  message.program = program;
  if (way.link) message.step = wire::Build::Step::Compile;
  wire::Built built = trial_step(message, way.source);
  if (way.link && built.code == CL_SUCCESS) {
    message.step = wire::Build::Step::Link;
    message.program = linked;
    message.context = place_.name;
    message.inputs = {program};
    built = trial_step(message, *way.link);
    session.call<FnId::clReleaseProgram>({}, as<cl_program>(linked));
  }
  Trial trial;
  trial.built = built.code == CL_SUCCESS && !built.kernels.empty();
  trial.told = trial.built && built.kernels[0].told;
  if (wants_options && trial.built) {
    size_t size = 0;
    int wanted = 0;
    const Bytes outputs = session.ask<FnId::clGetProgramBuildInfo>(
        {}, as<cl_program>(program), as<cl_device_id>(place_.devices[0]->name),
        cl_program_build_info{CL_PROGRAM_BUILD_OPTIONS}, LargestInfo, static_cast<void*>(&wanted), &size);
    const InfoAnswer told = info_of(FnId::clGetProgramBuildInfo, outputs);
    trial.options = as_text(told.value);
    trial.options.resize(std::strlen(trial.options.c_str()));
  }
  session.call<FnId::clReleaseProgram>({}, as<cl_program>(program));
  return trial;
}

bool Habits::keeps_arg_info(const BuildWay& way) {
  return known(keeps_arg_info_, way, [&] {
    const Trial trial = build_trial(way, false);
    return trial.told || !trial.built;
  });
}

bool Habits::tidies_options() {
  return known(tidies_options_, 0, [&] { return build_trial({" -DA=1  -DB=2 ", {}}, true).options == "-DA=1 -DB=2"; });
}

std::string tidied(const std::string& options) {
  std::string out;
  char quote = 0;
  bool apart = false;  // blanks since the last word
  for (const char c : options) {
    if (!quote && std::isspace(static_cast<unsigned char>(c))) {
      apart = true;
      continue;
    }
    if (apart && !out.empty()) out += ' ';
    apart = false;
    if (quote ? c == quote : c == '"' || c == '\'') quote = quote ? '\0' : c;
    out += c;
  }
  return out;
}

}  // namespace gt::virt
