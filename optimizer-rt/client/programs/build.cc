// Builds, compiles and links: at all sub-contexts of the program at once; without a callback, until all have answered.
#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>

#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/base/latch.h"
#include "optimizer-rt/client/base/serial_thread.h"
#include "optimizer-rt/client/platform/native_device.h"
#include "optimizer-rt/client/programs/includes.h"
#include "optimizer-rt/client/programs/program.h"
#include "transport/staging/thread.h"

namespace gt::virt {
namespace {

// One call under way: how many sub-contexts have not answered, and the first thing that went wrong.
struct Job {
  Ref<_cl_program> program;
  wire::Build::Step step;
  std::atomic<size_t> left{0};
  std::atomic<cl_int> code{CL_SUCCESS};
  ProgramNotify notify = nullptr;
  void* data = nullptr;
  const std::shared_ptr<Latch> done = std::make_shared<Latch>();

  void answered(const SubContext& sub_context, const std::vector<_cl_device_id*>& devices, const wire::Built& built);
  void one_less();
  void call_back() const;
};

// What a step makes, for drivers that do not tell.
cl_program_binary_type usual_type(wire::Build::Step step) {
  const bool object = step == wire::Build::Step::Compile;
  return object ? CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT : CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
}

BuildState state_of(const wire::Built& built, wire::Build::Step step, const _cl_device_id& device) {
  BuildState state;
  for (const wire::BuildResult& r : built.devices) {
    if (r.device != device.name) continue;
    state.status = r.status;
    state.binary_type = r.binary_type;
    const bool told = r.status != CL_BUILD_SUCCESS || r.binary_type != CL_PROGRAM_BINARY_TYPE_NONE;
    if (!told) state.binary_type = usual_type(step);
    state.log = r.log.substr(0, r.log.find('\0'));
    return state;
  }
  state.status = built.code == CL_SUCCESS ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
  if (built.code == CL_SUCCESS) state.binary_type = usual_type(step);
  return state;
}

// The one of `devices` that a build for `device` was for: itself, or what it is a part of. nullptr: none.
_cl_device_id* listed_for(_cl_device_id* device, const std::vector<_cl_device_id*>& devices) {
  while (device && std::find(devices.begin(), devices.end(), device) == devices.end()) device = device->parent.get();
  return device;
}

void Job::answered(const SubContext& sub_context, const std::vector<_cl_device_id*>& devices,
                   const wire::Built& built) {
  if (step != wire::Build::Step::Describe || built.code == CL_SUCCESS) {
    const MutexLock lock(program->mutex);
    for (auto& [d, build] : program->builds) {
      _cl_device_id* const listed = listed_for(d, devices);
      if (!listed || std::find(sub_context.devices.begin(), sub_context.devices.end(), d) == sub_context.devices.end())
        continue;
      const std::string& options = program->builds[listed].options;
      BuildState state = state_of(built, step, *d);
      state.options = options;
      build = std::move(state);
    }
    if (program->kernels.empty()) program->kernels = built.kernels;
  }
  cl_int none = CL_SUCCESS;
  if (built.code != CL_SUCCESS) code.compare_exchange_strong(none, built.code);
  one_less();
}

void Job::one_less() {
  if (left.fetch_sub(1) != 1) return;
  if (notify) call_back();
  done->open();
}

// On a thread of its own: the function may build something else and wait to be called back for that.
void Job::call_back() const {
  using Call = std::function<void()>;
  auto call = std::make_unique<Call>([p = program, f = notify, d = data] { f(p.get(), d); });
  const auto run = [](void* given) -> void* {
    const std::unique_ptr<Call> mine(static_cast<Call*>(given));
    (*mine)();
    return nullptr;
  };
  if (staging::start_detached("gt-built", run, call.get(), ProgramsStack))
    (void)call.release();
  else
    callbacks().post(std::move(*call));
}

void begin(_cl_program& program, const std::vector<_cl_device_id*>& devices, const std::string& options) {
  program.settle();
  const MutexLock lock(program.mutex);
  require(program.attached == 0, CL_INVALID_OPERATION);
  for (_cl_device_id* d : devices) require(program.builds[d].status != CL_BUILD_IN_PROGRESS, CL_INVALID_OPERATION);
  for (_cl_device_id* d : devices) {
    program.builds[d] = {};
    program.builds[d].status = CL_BUILD_IN_PROGRESS;
    program.builds[d].options = options;
  }
  program.kernels.clear();
  program.argument_sizes.clear();
}

BuildOptions given(const char* options) { return options ? BuildOptions(options) : std::nullopt; }

void note_way(_cl_program& program, const char* options) {
  const MutexLock lock(program.mutex);
  if (program.from_source) program.ways = {{given(options), {}}};
}

// Of all that a link puts together.
void note_linked(_cl_program& program, cl_uint count, const cl_program* inputs, const char* options) {
  std::vector<BuildWay> ways;
  for (cl_uint i = 0; i < count; ++i) {
    program.modules.insert(program.modules.end(), inputs[i]->modules.begin(), inputs[i]->modules.end());
    const MutexLock lock(inputs[i]->mutex);
    for (const BuildWay& way : inputs[i]->ways) ways.push_back({way.source, given(options)});
  }
  const MutexLock lock(program.mutex);
  program.ways = std::move(ways);
}

// `complete` fills in what differs from sub-context to sub-context.
template <class Complete>
cl_int run(const std::shared_ptr<Job>& job, const wire::Build& common, const std::vector<_cl_device_id*>& devices,
           Complete complete) {
  std::vector<SubContext*> sub_contexts;
  for (const auto& sub_context : job->program->context->sub_contexts) {
    const bool used = std::any_of(devices.begin(), devices.end(), [&](_cl_device_id* d) {
      return &job->program->context->sub_context_of(d) == sub_context.get();
    });
    if (used) sub_contexts.push_back(sub_context.get());
  }
  job->left = sub_contexts.size();
  if (job->notify) {
    const MutexLock lock(job->program->mutex);
    job->program->building = job->done;
  }
  for (SubContext* sub_context : sub_contexts) {
    wire::Build message = common;
    message.program = job->program->at(*sub_context);
    for (_cl_device_id* d : devices) {
      if (&job->program->context->sub_context_of(d) == sub_context) message.devices.push_back(d->name);
    }
    complete(*sub_context, message);
    const auto answered = [job, sub_context, devices](const wire::Built& b) {
      job->answered(*sub_context, devices, b);
    };
    try {
      sub_context->session.build(message, answered);
    } catch (const Failure& failure) {
      wire::Built lost;
      lost.code = failure.code;
      answered(lost);
    }
  }
  if (job->notify) return CL_SUCCESS;
  job->done->wait();
  return job->code;
}

std::shared_ptr<Job> make_job(_cl_program& program, wire::Build::Step step, ProgramNotify notify, void* data) {
  auto job = std::make_shared<Job>();
  job->program = Ref<_cl_program>(&program);
  job->step = step;
  job->notify = notify;
  job->data = data;
  return job;
}

// What it was made of is compiled, or a binary of which only the driver knows what it is.
bool may_be_linked(_cl_program& program, const std::vector<_cl_device_id*>& devices) {
  const MutexLock lock(program.mutex);
  const auto is_compiled = [&](_cl_device_id* d) GT_REQUIRES(program.mutex) {
    const auto it = program.builds.find(d);
    if (it == program.builds.end()) return false;
    const cl_program_binary_type type = it->second.binary_type;
    return type == CL_PROGRAM_BINARY_TYPE_LIBRARY || type == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT;
  };
  return program.from_binary || std::all_of(devices.begin(), devices.end(), is_compiled);
}

wire::Build message_of(const _cl_program& program, wire::Build::Step step, const std::string& options) {
  wire::Build message;
  message.step = step;
  message.options = portable_options(options);
  if (!program.source.empty()) message.files = collect_includes(program.source, options);
  return message;
}

}  // namespace

void describe(_cl_program& program) {
  const auto job = make_job(program, wire::Build::Step::Describe, nullptr, nullptr);
  wire::Build message;
  message.step = job->step;
  run(job, message, program.devices, [](SubContext&, wire::Build&) {});
}

namespace fn {

cl_int clBuildProgram(cl_program program, cl_uint n, const cl_device_id* list, const char* options,
                      ProgramNotify notify, void* data) {
  check(program);
  require(notify || !data, CL_INVALID_VALUE);
  const std::vector<_cl_device_id*> devices = program->chosen(n, list);
  const std::string text = options ? options : "";
  begin(*program, devices, text);
  note_way(*program, options);
  const auto job = make_job(*program, wire::Build::Step::Build, notify, data);
  return run(job, message_of(*program, job->step, text), devices, [](SubContext&, wire::Build&) {});
}

cl_int clCompileProgram(cl_program program, cl_uint n, const cl_device_id* list, const char* options,
                        cl_uint header_count, const cl_program* headers, const char** names, ProgramNotify notify,
                        void* data) {
  check(program);
  require(notify || !data, CL_INVALID_VALUE);
  require((header_count == 0) == (headers == nullptr) && (header_count == 0) == (names == nullptr), CL_INVALID_VALUE);
  for (cl_uint i = 0; i < header_count; ++i) check(headers[i]);
  require(program->from_source || !program->il.empty(), CL_INVALID_OPERATION);
  const std::vector<_cl_device_id*> devices = program->chosen(n, list);
  const std::string text = options ? options : "";
  begin(*program, devices, text);
  note_way(*program, options);
  const auto job = make_job(*program, wire::Build::Step::Compile, notify, data);
  wire::Build message = message_of(*program, job->step, text);
  for (cl_uint i = 0; i < header_count; ++i) message.names.push_back(portable_name(names[i]));
  const cl_int code = run(job, message, devices, [&](SubContext& sub_context, wire::Build& m) {
    for (cl_uint i = 0; i < header_count; ++i) m.inputs.push_back(headers[i]->at(sub_context));
  });
  return code == CL_BUILD_PROGRAM_FAILURE ? CL_COMPILE_PROGRAM_FAILURE : code;
}

cl_program clLinkProgram(cl_context context, cl_uint n, const cl_device_id* list, const char* options,
                         cl_uint input_count, const cl_program* inputs, ProgramNotify notify, void* data,
                         cl_int* errcode) {
  check(context);
  require((n == 0) == (list == nullptr) && input_count != 0 && inputs && (notify || !data), CL_INVALID_VALUE);
  for (cl_uint i = 0; i < input_count; ++i) check(inputs[i]).settle();
  std::vector<_cl_device_id*> devices;
  for (const auto& d : context->devices) devices.push_back(d.get());
  if (n != 0) devices = devices_in(*context, n, list);
  for (cl_uint i = 0; i < input_count; ++i) require(may_be_linked(*inputs[i], devices), CL_INVALID_OPERATION);
  Ref<_cl_program> program = make<_cl_program>(*context, devices);
  for (_cl_device_id* d : devices) {
    ObjectId& name = program->names[context->sub_context_of(d).index];
    if (name == 0) name = context->sub_context_of(d).session.new_id();
  }
  const std::string text = options ? options : "";
  begin(*program, devices, text);
  note_linked(*program, input_count, inputs, options);
  const auto job = make_job(*program, wire::Build::Step::Link, notify, data);
  wire::Build message;
  message.step = job->step;
  message.options = text;
  if (!options) message.how = wire::Build::Options::None;
  const cl_int code = run(job, message, devices, [&](SubContext& sub_context, wire::Build& m) {
    m.context = sub_context.name;
    for (cl_uint i = 0; i < input_count; ++i) m.inputs.push_back(inputs[i]->at(sub_context));
  });
  if (errcode) *errcode = code == CL_BUILD_PROGRAM_FAILURE ? CL_LINK_PROGRAM_FAILURE : code;
  // A failed link gives its program, too: it has the log.
  return program.give();
}

}  // namespace fn
}  // namespace gt::virt
