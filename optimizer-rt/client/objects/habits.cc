#include "optimizer-rt/client/objects/habits.h"

#include <cctype>
#include <memory>
#include <utility>

#include "optimizer-rt/client/base/answers.h"
#include "optimizer-rt/client/base/latch.h"
#include "optimizer-rt/client/objects/context.h"
#include "optimizer-rt/client/objects/event.h"

namespace gt::virt {

using api::FnId;
using Shape = copy::Region::Shape;

template <class Answers, class Question, class Ask>
auto Habits::known(Answers KnownHabits::* answers, const Question& question, Ask ask) {
  {
    const MutexLock lock(known_.mutex);
    const Answers& there = known_.*answers;
    if (const auto it = there.find(question); it != there.end()) return it->second;
  }
  const auto answer = ask();
  const MutexLock lock(known_.mutex);
  (known_.*answers)[question] = answer;
  return answer;
}

cl_int Habits::on_nothing(FnId command, const Region& region) {
  return known(&KnownHabits::on_nothing, std::make_pair(command, region),
               [&] { return ask_on_nothing(command, region); });
}
cl_int Habits::on_nothing(FnId command, void* svm) {
  return known(&KnownHabits::on_nothing_shared, command, [&] { return ask_on_nothing_shared(command, svm); });
}

bool Habits::gives_pointer_to_nothing() {
  const MutexLock lock(known_.mutex);
  return known_.gives_pointer;
}

cl_int Habits::on_uneven_slices(FnId command) {
  const copy::Region part{.shape = Shape::Box, .region = {1, 1, 2}, .row_pitch = 2, .slice_pitch = 3};
  return known(&KnownHabits::on_uneven_slices, command, [&] {
    if (command == FnId::clEnqueueCopyBufferRect) return copy(part);
    return transfer(command == FnId::clEnqueueWriteBufferRect, sub_context_.scratch(), part);
  });
}

cl_int Habits::ask_on_nothing(FnId command, const Region& region) {
  copy::Region part;
  part.region = region;
  const ObjectId buffer = sub_context_.scratch();
  switch (command) {
    case FnId::clEnqueueReadBuffer: return transfer(false, buffer, part);
    case FnId::clEnqueueWriteBuffer: return transfer(true, buffer, part);
    case FnId::clEnqueueCopyBuffer: return copy(part);
    case FnId::clEnqueueFillBuffer: return fill_nothing();
    case FnId::clEnqueueMapBuffer: return map_nothing();
    default: break;
  }
  const bool image = command == FnId::clEnqueueReadImage || command == FnId::clEnqueueWriteImage;
  part.shape = image ? Shape::Image : Shape::Box;
  if (image) return transfer_image(command == FnId::clEnqueueWriteImage, part);
  if (command == FnId::clEnqueueCopyBufferRect) return copy(part);
  return transfer(command == FnId::clEnqueueWriteBufferRect, buffer, part);
}

cl_int Habits::ask_on_nothing_shared(FnId command, void* svm) {
  constexpr cl_event* Unwanted = nullptr;
  constexpr const cl_event* None = nullptr;
  const auto queue = as<cl_command_queue>(sub_context_.service_queue());
  const uint32_t pattern = 0;
  Bytes outputs;
  if (command == FnId::clEnqueueSVMMemcpy) {
    outputs = sub_context_.session.ask<FnId::clEnqueueSVMMemcpy>(
        {}, queue, cl_bool{CL_FALSE}, svm, static_cast<const void*>(svm), size_t{0}, cl_uint{0}, None, Unwanted);
  } else {
    outputs = sub_context_.session.ask<FnId::clEnqueueSVMMemFill>(
        {}, queue, svm, static_cast<const void*>(&pattern), sizeof pattern, size_t{0}, cl_uint{0}, None, Unwanted);
  }
  return answer_of(command, outputs).code;
}

cl_int Habits::transfer(bool to_device, ObjectId mem, const copy::Region& part) {
  const Ref<_cl_event> event = make<_cl_event>(sub_context_.context, sub_context_);
  const Bytes zeros(part.region[0] * part.region[1] * part.region[2]);
  const auto fill_in = [&](auto& message) {
    message.queue = sub_context_.service_queue();
    message.mem = mem;
    message.event = event->name;
    message.transfer = sub_context_.session.new_transfer();
    message.part = part;
    message.bytes = zeros.size();
    sub_context_.session.send(message);
  };
  wire::Write write;
  write.data = zeros;
  wire::Read read;
  to_device ? fill_in(write) : fill_in(read);
  return event->wait();
}

cl_int Habits::transfer_image(bool to_device, const copy::Region& part) {
  const ObjectId image = make_image(CL_MEM_READ_WRITE);
  const cl_int code = transfer(to_device, image, part);
  release(image);
  return code;
}

ObjectId Habits::make_buffer(cl_mem_flags flags) {
  const ObjectId made = sub_context_.session.new_id();
  cl_int errcode = 0;
  sub_context_.session.call<FnId::clCreateBuffer>({made}, as<cl_context>(sub_context_.name), flags,
                                                  SubContext::ScratchBytes, static_cast<void*>(nullptr), &errcode);
  return made;
}

ObjectId Habits::make_image(cl_mem_flags flags) {
  const cl_image_format format{CL_RGBA, CL_UNORM_INT8};  // every device with images has it
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = desc.image_height = 1;
  const ObjectId made = sub_context_.session.new_id();
  cl_int errcode = 0;
  sub_context_.session.call<FnId::clCreateImage>({made}, as<cl_context>(sub_context_.name), flags, &format,
                                                 static_cast<const cl_image_desc*>(&desc), static_cast<void*>(nullptr),
                                                 &errcode);
  return made;
}

void Habits::release(ObjectId mem) { sub_context_.session.call<FnId::clReleaseMemObject>({}, as<cl_mem>(mem)); }

// From one buffer to another.
cl_int Habits::copy(const copy::Region& part) {
  Session& session = sub_context_.session;
  const ObjectId other = make_buffer(CL_MEM_READ_WRITE);
  const auto queue = as<cl_command_queue>(sub_context_.service_queue());
  const auto from = as<cl_mem>(sub_context_.scratch()), to = as<cl_mem>(other);
  constexpr const cl_event* None = nullptr;
  constexpr cl_event* Unwanted = nullptr;
  using copy::sizes;
  FnId command = FnId::clEnqueueCopyBuffer;
  Bytes outputs;
  if (part.shape == Shape::Range) {
    outputs = session.ask<FnId::clEnqueueCopyBuffer>({}, queue, from, to, size_t{0}, size_t{0}, size_t{part.region[0]},
                                                     cl_uint{0}, None, Unwanted);
  } else {
    command = FnId::clEnqueueCopyBufferRect;
    outputs = session.ask<FnId::clEnqueueCopyBufferRect>(
        {}, queue, from, to, sizes(part.origin), sizes(part.origin), sizes(part.region), size_t{part.row_pitch},
        size_t{part.slice_pitch}, size_t{part.row_pitch}, size_t{part.slice_pitch}, cl_uint{0}, None, Unwanted);
  }
  release(other);
  return answer_of(command, outputs).code;
}

// Proxies before this one do not know the question; then it is as the specification says.
cl_int Habits::map_nothing() {
  cl_int errcode = 0;
  constexpr FnId Map = FnId::clEnqueueMapBuffer;
  const Bytes outputs = sub_context_.session.ask<Map>(
      {}, as<cl_command_queue>(sub_context_.service_queue()), as<cl_mem>(sub_context_.scratch()), cl_bool{CL_FALSE},
      cl_map_flags{CL_MAP_READ}, size_t{0}, size_t{0}, cl_uint{0}, static_cast<const cl_event*>(nullptr),
      static_cast<cl_event*>(nullptr), &errcode);
  constexpr uint16_t Errcode = 9;
  const CallAnswer answer = answer_of(Map, outputs);
  const auto code = static_cast<cl_int>(answer.number(Errcode, static_cast<uint64_t>(CL_INVALID_VALUE)));
  const MutexLock lock(known_.mutex);
  known_.gives_pointer = answer.number(api::DecodedReturn) != 0;
  return code == CL_INVALID_OPERATION ? CL_INVALID_VALUE : code;
}

cl_int Habits::fill_nothing() {
  const uint32_t pattern = 0;
  const Bytes outputs = sub_context_.session.ask<FnId::clEnqueueFillBuffer>(
      {}, as<cl_command_queue>(sub_context_.service_queue()), as<cl_mem>(sub_context_.scratch()),
      static_cast<const void*>(&pattern), sizeof pattern, size_t{0}, size_t{0}, cl_uint{0},
      static_cast<const cl_event*>(nullptr), static_cast<cl_event*>(nullptr));
  return answer_of(FnId::clEnqueueFillBuffer, outputs).code;
}

// What host memory it has, and what the host may do, makes no difference to a driver beyond being something.
bool Habits::adds_access(cl_mem_flags flags, bool image) {
  const cl_mem_flags like = flags == 0 ? 0 : CL_MEM_ALLOC_HOST_PTR;
  return known(&KnownHabits::adds_access, std::make_pair(like, image), [&] { return ask_adds_access(like, image); });
}

bool Habits::ask_adds_access(cl_mem_flags flags, bool image) {
  Session& session = sub_context_.session;
  const ObjectId mem = image ? make_image(flags) : make_buffer(flags);
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
  message.devices = {sub_context_.devices[0]->name};
  struct Answer {
    Latch latch;
    wire::Built built;
  };
  const auto answer = std::make_shared<Answer>();
  sub_context_.session.build(message, [answer](const wire::Built& built) {
    answer->built = built;
    answer->latch.open();
  });
  answer->latch.wait();
  return answer->built;
}

Habits::Trial Habits::build_trial(const BuildWay& way, bool wants_options) {
  constexpr const char* Source = "kernel void gtrace_trial(global int* a) { a[0] = 1; }\n";
  Session& session = sub_context_.session;
  const ObjectId program = session.new_id(), linked = session.new_id();
  const char* text = Source;
  const size_t length = std::strlen(Source);
  cl_int errcode = 0;
  session.call<FnId::clCreateProgramWithSource>({program}, as<cl_context>(sub_context_.name), cl_uint{1}, &text,
                                                &length, &errcode);
  wire::Build message;
  message.program = program;
  if (way.link) message.step = wire::Build::Step::Compile;
  wire::Built built = trial_step(message, way.source);
  if (way.link && built.code == CL_SUCCESS) {
    message.step = wire::Build::Step::Link;
    message.program = linked;
    message.context = sub_context_.name;
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
        {}, as<cl_program>(program), as<cl_device_id>(sub_context_.devices[0]->name),
        cl_program_build_info{CL_PROGRAM_BUILD_OPTIONS}, LargestInfo, static_cast<void*>(&wanted), &size);
    const InfoAnswer told = info_of(FnId::clGetProgramBuildInfo, outputs);
    trial.options = as_text(told.value);
    trial.options.resize(std::strlen(trial.options.c_str()));
  }
  session.call<FnId::clReleaseProgram>({}, as<cl_program>(program));
  return trial;
}

bool Habits::keeps_arg_info(const BuildWay& way) {
  return known(&KnownHabits::keeps_arg_info, way, [&] {
    const Trial trial = build_trial(way, false);
    return trial.told || !trial.built;
  });
}

bool Habits::tidies_options() {
  return known(&KnownHabits::tidies_options, 0,
               [&] { return build_trial({" -DA=1  -DB=2 ", {}}, true).options == "-DA=1 -DB=2"; });
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
