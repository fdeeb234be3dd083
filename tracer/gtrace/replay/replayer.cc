#include "tracer/gtrace/replay/replayer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "tracer/gtrace/replay/program_binaries.h"
#include "traces/api/print.h"
#include "traces/api/special.h"

namespace gt::tracer {

using api::FnId;
using api::Wire;
using model::Arg;
using model::ArgForm;
using model::Effect;
using model::ObjectKind;

namespace {

void nobody_listens() {}  // in place of the program's callbacks: who calls it cleans its arguments up

bool is_query(std::string_view name) { return name.starts_with("clGet") || name.starts_with("clIcd"); }

// Of a program's binaries: into memory whose addresses the program gave in memory. Some drivers do not look whether
// there are any.
bool asks_for_addresses(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) {
  return shape.fn == static_cast<uint16_t>(FnId::clGetProgramInfo) &&
         number_of(shape, plan, values, 1) == CL_PROGRAM_BINARIES;
}

bool only_releases(const model::Shape& shape) { return api::attributes(shape.fn).releases != ObjectKind::Unknown; }

}  // namespace

Replayer::Replayer(ReplayWorld& world)
    : world_(world),
      plans_(world.trace.shapes.size()),
      encoder_(world.trace, world.devices, world.objects, world.memory),
      updates_(world.trace, encoder_),
      plain_(world.trace, !world.hook && !world.overlaps && !world.part.any()),
      times_(world.trace.shapes.size()),
      data_(world),
      device_(world, encoder_) {
  context_.objects = this;
  if (world.describes_kernels || (world.contents && world.compares)) encoder_.describe_kernels();
  if (world.overlaps) overlap_.emplace(world.cl);
  if (world.headers) encoder_.include_from(*world.headers, world.header_folder);
  encoder_.know_sources(world.sources);
  encoder_.know_addresses(world.addresses);
  encoder_.know_command_buffers(world.command_buffers);
  outputs_.leave_contents_out();
}

Replayer::~Replayer() { world_.outcome.made(times_); }

const ShapePlan& Replayer::plan_of(model::ShapeId shape) {
  if (!plans_[shape]) plans_[shape] = std::make_unique<ShapePlan>(plan_shape(world_.trace.shapes[shape], world_.trace));
  return *plans_[shape];
}

Status Replayer::call(model::ShapeId id, std::span<const int64_t> values, uint64_t number) {
  const model::Shape& shape = world_.trace.shapes[id];
  const ShapePlan& plan = plan_of(id);
  const api::Attributes& attributes = api::attributes(shape.fn);
  const bool asks = shape.fn >= api::FirstAllocFn || shape.fn == static_cast<uint16_t>(FnId::clGetEventInfo);
  if (asks || attributes.waits || number_of(shape, plan, values, plan.callable ? attributes.blocking : -1) != 0)
    world_.mapped.program_waited();
  if (shape.fn >= api::FirstCallbackFn) call_back(shape, plan, values);
  if (shape.fn >= api::FirstAllocFn) return {};  // what the program was told
  shape_ = id;
  number_ = number;
  content_ = content_of(plan, values);
  moved_ = {};
  if (world_.part.leaves_out(plan)) return leave_out(shape, plan, values);
  if (!plan.callable) return not_made(shape, plan, values, "it was not recorded whole");
  if (lacks_values(plan, values)) return not_made(shape, plan, values, "--max-size left out what it was given");
  if (attributes.updates >= 0 && !updates_.build(shape, plan, values))
    return not_made(shape, plan, values, updates_.why());
  if (asks_for_addresses(shape, plan, values)) return {};
  reads_ = plan.reads;
  late_ = reads_ && world_.contents && plan.content >= 0 && content_ < 0;
  late_copy_ = copies_late(shape, plan, values);
  if (shape.fn == static_cast<uint16_t>(FnId::clEnqueueNativeKernel)) return call_marker(shape, plan, values);
  const uint64_t queue = overlap_ ? first_of(ObjectKind::Queue, shape, plan, values) : 0;
  const bool blocks = number_of(shape, plan, values, attributes.blocking) != 0;
  goes_on_ = overlap_ && blocks && overlap_->may_go_on(plan, queue);
  if (goes_on_) world_.outcome.went_on();
  if (overlap_) overlap_->before(plan, queue, first_of(ObjectKind::Event, shape, plan, values) != 0);
  const bool with_event = late_ || late_copy_ || goes_on_ || reads_back(plan) || plan.callback >= 0 ||
                          (world_.contents && attributes.direction == api::DirectionRule::Map);
  if (!encoder_.encode(shape, plan, values, with_event, goes_on_))
    return not_made(shape, plan, values, encoder_.why());
  return make(shape, plan, values);
}

// Of its inputs, other than what was moved.
bool Replayer::lacks_values(const ShapePlan& plan, std::span<const int64_t> values) const {
  if (!world_.summarised) return false;
  const size_t first = plan.input_at.front(), last = plan.input_at.back(), args = plan.value_at.size();
  const size_t end = last < args ? plan.value_at[last] : values.size();
  for (size_t at = first < args ? plan.value_at[first] : end; at < end; ++at)
    if (values[at] == model::Unkept && static_cast<int>(at) != plan.content) return true;
  return false;
}

Status Replayer::call_marker(const model::Shape& native, const ShapePlan& plan, std::span<const int64_t> values) {
  const MarkerInPlace& marker = markers_.try_emplace(shape_, native, plan, world_.trace).first->second;
  world_.outcome.bridged("clEnqueueNativeKernel: a marker in place of the program's function");
  const std::vector<int64_t> row = marker.values(values);
  const bool sound = marker.plan().callable && encoder_.encode(marker.shape(), marker.plan(), row);
  return sound ? make(marker.shape(), marker.plan(), row) : not_made(native, plan, values, encoder_.why());
}

int64_t Replayer::content_of(const ShapePlan& plan, std::span<const int64_t> values) const {
  return plan.content >= 0 && world_.contents ? values[static_cast<size_t>(plan.content)] : -1;
}

Status Replayer::make(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) {
  const AnyFunction function =
      with_room_for_binaries(shape.fn, world_.cl.find(shape.fn, world_.devices.by_slot().front().platform));
  if (!function) return not_made(shape, plan, values, "no driver here has it");
  if (!world_.devices.same() && shape.fn == static_cast<uint16_t>(FnId::clCreateProgramWithBinary)) {
    // Some drivers die of another one's binary: a source comes first.
    if (bridge_binary(shape, plan, values, {Kind::OpenCl, ""}).ok()) return {};
  }
  keep_queues(shape);
  const bool sets_gate = shape.fn == static_cast<uint16_t>(FnId::clSetUserEventStatus);
  if (sets_gate && !world_.gates.may_set(first_input())) return {};
  send(shape, plan, values);
  restore_devices(shape, plan, values);
  if (!world_.hook || !plan.fn->attributes.launch || plan.fn->attributes.records) {
    GT_TRY(call_driver(shape, plan, values, function));
    if (sets_gate) world_.gates.was_set(first_input());
    return {};
  }
  const Launch launch = launch_of(shape, plan, values, function);
  if (world_.hook->wants(launch)) world_.gates.open_all();  // who looks at a launch waits for all before it
  GT_TRY(world_.hook->before(launch));
  GT_TRY(call_driver(shape, plan, values, function));
  return world_.hook->after(launch);
}

// The call that is encoded. NVIDIA's driver (580.159) reads the list of a migration when the command runs, not at the
// call: the lists of the last ones stay.
api::Invoked Replayer::invoke(uint16_t fn, AnyFunction function) {
  outputs_.view().clear();
  context_.arena.clear();
  const api::Invoked invoked = api::invoke(static_cast<FnId>(fn), encoder_.inputs(), function, context_, outputs_);
  if (static_cast<FnId>(fn) == FnId::clEnqueueMigrateMemObjects) {
    migrated_.push_back(std::exchange(context_.arena, api::Arena()));
    if (migrated_.size() > MostMigrations) migrated_.pop_front();
  }
  return invoked;
}

Status Replayer::call_driver(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values,
                             AnyFunction function) {
  const api::Invoked invoked = measured([&] { return invoke(shape.fn, function); });
  if (invoked == api::Invoked::Damaged) return not_made(shape, plan, values, "what it was given contradicts itself");
  if (invoked == api::Invoked::TooLarge) return not_made(shape, plan, values, "it needs more memory than there is");
  if (world_.untouched.any()) note_touched(shape, plan, values);
  return conclude(shape, plan, values, function);
}

// What follows from a call that was made.
Status Replayer::conclude(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values,
                          AnyFunction function) {
  made_.clear();
  if (!api::decode_outputs(static_cast<FnId>(shape.fn), outputs_.view(), made_)) return {};
  Status judged = judge(plan, values);
  if (judged.kind() == Kind::OpenCl) {
    judged = bridge(shape, plan, values, function, judged);
  } else if (judged.ok() && plain_.is_plain(shape_, plan)) {
    keep_plain(shape, plan, values, function);
  }
  GT_TRY(judged);
  GT_TRY(judge_svm(shape, plan, values));
  name_outputs(shape, plan, values);
  note_device_address(shape, plan, values);
  note_command_buffer(shape, plan, values);
  note_kernels(shape, plan, values);
  if (!plan.updates.empty()) note_updates(plan, shape, values);
  if (world_.hook && plan.fn->attributes.creates != ObjectKind::Unknown && !made_.empty())
    GT_TRY(world_.hook->made({plan.fn->attributes.creates, made_.front().value,
                              first_of(ObjectKind::Context, shape, plan, values)}));
  look_at_result(shape, plan, values);
  if (reads_back(plan)) device_.compare(made_now(shape, plan, values), hold_event(shape, plan), unknown_);
  return {};
}

Launch Replayer::launch_of(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values,
                           AnyFunction function) {
  Launch launch;
  launch.cls = kernel_class(shape, plan);
  launch.kernel = kernel_name(shape, plan);
  launch.nth = world_.launches.next(launch.kernel);
  // Threads may launch in another order here.
  if (plan.chosen && world_.part.launch()) launch.nth = world_.part.launch()->nth;
  launch.number = number_;
  launch.thread = shape.thread;
  launch.handle = first_of(ObjectKind::Kernel, shape, plan, values);
  launch.queue = first_of(ObjectKind::Queue, shape, plan, values);
  const auto list = [&](const char* name) {
    std::vector<uint64_t> out;
    for (uint16_t p = 0; p < plan.fn->param_count; ++p) {
      if (std::string_view(plan.fn->params[p].name) != name) continue;
      for (size_t i = plan.input_at[p]; i < plan.input_at[p + 1]; ++i) {
        if (shape.args[i].form == ArgForm::Int) out.push_back(static_cast<uint64_t>(values[plan.value_at[i]]));
      }
    }
    return out;
  };
  const std::vector<uint64_t> dimensions = list("work_dim");
  launch.dimensions = dimensions.empty() ? 1 : static_cast<uint32_t>(dimensions.front());
  launch.offset = list("global_work_offset");
  launch.global = list("global_work_size");
  launch.local = list("local_work_size");
  for (size_t i = plan.input_at.back(); i < shape.args.size(); ++i) {
    const Arg& a = shape.args[i];
    const bool bound = a.param >= model::ParamKernelArg && a.param < model::ParamReturn;
    if (bound && (a.form == ArgForm::Object || a.form == ArgForm::Memory))
      launch.objects.push_back({a.param - uint32_t{model::ParamKernelArg}, a.cls, values[plan.value_at[i]]});
  }
  launch.again = [this, &shape, function]() -> Status {
    const bool made = invoke(shape.fn, function) == api::Invoked::Done;
    return made ? Status() : Status(Kind::OpenCl, "the launch cannot be repeated");
  };
  return launch;
}

// Queries change nothing, and what was never made needs no release.
Status Replayer::not_made(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values,
                          const std::string& why) {
  const char* const name = api::function_name(shape.fn);
  world_.outcome.left_out(fmt::format("{}: {}", name, why));
  const bool failed = plan.status >= 0 && values[static_cast<size_t>(plan.status)] < 0;
  lose_outputs(shape, plan, values);
  if (failed || encoder_.lacks_lost() || is_query(name) || only_releases(shape)) return {};
  return {Kind::Unsupported, fmt::format("call T{} #{}, {}, cannot be made: {}", shape.thread, number_, name, why)};
}

// Did the recorded call give one?
bool Replayer::gives_object(const ShapePlan& plan) const {
  const std::vector<Arg>& args = world_.trace.shapes[shape_].args;
  return plan.fn->attributes.creates != ObjectKind::Unknown &&
         std::any_of(plan.outputs.begin(), plan.outputs.end(), [&](uint16_t i) {
           return args[i].param == model::ParamReturn && args[i].form == ArgForm::Object;
         });
}

// Did the call end as it was recorded?
Status Replayer::judge(const ShapePlan& plan, std::span<const int64_t> values) {
  // Who makes an object and asks for no code knows by the object.
  const bool made = plan.status < 0 && gives_object(plan);
  if (plan.status < 0 && !made) return {};
  const auto recorded = made ? CL_SUCCESS : static_cast<int32_t>(values[static_cast<size_t>(plan.status)]);
  int32_t got = 0;
  for (const api::DecodedArg& m : made_) {
    if (m.tag == api::Tag::Int && api::is_error_code(world_.trace.shapes[shape_].fn, m.param))
      got = static_cast<int32_t>(m.value);
  }
  if ((got < 0) == (recorded < 0)) return {};
  const std::string name = api::function_name(world_.trace.shapes[shape_].fn);
  const std::string how = fmt::format("{}: {} instead of {}", name, api::error_name(got), api::error_name(recorded));
  if (got >= 0 || is_query(name)) {
    world_.outcome.ended_otherwise(how);
    return {};
  }
  return {Kind::OpenCl, fmt::format("call T{} #{}, {}", world_.trace.shapes[shape_].thread, number_, how), got};
}

// The handle or number that a call is given first.
uint64_t Replayer::first_input() {
  uint64_t word = 0;
  if (encoder_.inputs().size() >= sizeof word) std::memcpy(&word, encoder_.inputs().data(), sizeof word);
  return word;
}

// The first parameter of what retains and releases queues is the queue.
void Replayer::keep_queues(const model::Shape& shape) {
  const api::Attributes& a = api::attributes(shape.fn);
  if (a.retains != ObjectKind::Queue && a.releases != ObjectKind::Queue) return;
  const uint64_t queue = first_input();
  if (a.retains == ObjectKind::Queue) return world_.queues.hold(queue);
  // What it was given is done before the next object may have its name.
  if (world_.queues.last(queue) && !world_.gates.any_shut())
    world_.cl.get<decltype(clFinish)>(FnId::clFinish)(reinterpret_cast<cl_command_queue>(queue));
  world_.queues.release(queue);
}

// The first input of a kind; 0: there is none.
uint64_t Replayer::first_of(ObjectKind kind, const model::Shape& shape, const ShapePlan& plan,
                            std::span<const int64_t> values) const {
  for (size_t i = plan.input_at.front(); i < plan.input_at.back(); ++i) {
    const Arg& a = shape.args[i];
    if (a.form == ArgForm::Object && world_.trace.classes[a.cls].kind == kind)
      return encoder_.handle(a.cls, values[plan.value_at[i]]);
  }
  return 0;
}

// What an update changes; else data for callbacks, which are not called.
uint64_t Replayer::raw(uint64_t value) {
  const bool updates = api::attributes(world_.trace.shapes[shape_].fn).updates >= 0;
  return updates ? reinterpret_cast<uint64_t>(updates_.config()) : value;
}

uint64_t Replayer::code(uint64_t) { return reinterpret_cast<uint64_t>(&nobody_listens); }

}  // namespace gt::tracer
