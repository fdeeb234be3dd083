#include "tracer/gtrace/replay/step_reporter.h"

#include <algorithm>

namespace gt::tracer {

namespace {

LaunchReport report_of(const Launch& launch, const std::vector<LaunchOutput>& outputs) {
  LaunchReport report{{launch.thread, launch.number}, launch.kernel, launch.nth, false, {}};
  for (const LaunchOutput& o : outputs) {
    OutputReport& r = report.outputs.emplace_back();
    r.argument = o.argument;
    r.name = o.name;
    r.type = o.type;
    r.size = o.bytes.size();
    r.hash = contents::hash_of(o.bytes);
    for (const LaunchedObject& object : launch.objects) {
      if (object.argument != o.argument) continue;
      r.cls = object.cls;
      r.slot = object.slot;
    }
  }
  return report;
}

}  // namespace

StepReporter::StepReporter(ReplayWorld& world, const StepChannel& channel)
    : world_(world),
      channel_(channel),
      outputs_(world.cl, world.kernels, world.mapped),
      reader_([this] { read_answers(); }) {}

StepReporter::~StepReporter() {
  channel_.end();
  reader_.join();
}

void StepReporter::read_answers() {
  while (std::optional<StepMessage> message = channel_.receive()) {
    const std::optional<StepAnswer> answer = decode_answer(message->body);
    if (!answer) break;
    const MutexLock lock(mutex_);
    answers_[answer->launch].push_back(std::move(*message));
    answered_.notify_all();
  }
  const MutexLock lock(mutex_);
  ended_.store(true);
  answered_.notify_all();
}

bool StepReporter::send(StepKind kind, ByteView body) {
  const MutexLock lock(sending_);
  return channel_.send(kind, body);
}

Status StepReporter::made(const MadeObject& object) {
  if (object.kind == model::ObjectKind::Event && object.handle != 0) {
    const auto event = reinterpret_cast<cl_event>(object.handle);
    world_.cl.get<decltype(clRetainEvent)>(api::FnId::clRetainEvent)(event);
    const MutexLock lock(mutex_);
    user_events_.push_back(event);
  }
  return outputs_.clear(object);
}

// Who waited for a launch then might wait for ever.
bool StepReporter::program_is_waited_for() {
  const auto ask = world_.cl.get<decltype(clGetEventInfo)>(api::FnId::clGetEventInfo);
  const auto release = world_.cl.get<decltype(clReleaseEvent)>(api::FnId::clReleaseEvent);
  const MutexLock lock(mutex_);
  std::erase_if(user_events_, [&](cl_event event) {
    cl_int state = CL_COMPLETE;
    ask(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr);
    if (state <= CL_COMPLETE) release(event);
    return state <= CL_COMPLETE;
  });
  return !user_events_.empty();
}

// A launch may wait for commands of other queues, which the program has not sent off yet.
void StepReporter::flush_queues() {
  const auto flush = world_.cl.get<decltype(clFlush)>(api::FnId::clFlush);
  for (const uint64_t queue : world_.queues.alive()) flush(reinterpret_cast<cl_command_queue>(queue));
}

Status StepReporter::after(const Launch& launch) {
  if (!world_.measures.load(std::memory_order_relaxed)) return {};
  std::vector<LaunchOutput> outputs;
  const bool unseen = program_is_waited_for();
  flush_queues();
  if (!unseen) GT_TRY(outputs_.read(launch, outputs));
  LaunchReport report = report_of(launch, outputs);
  report.unseen = unseen;
  if (!send(StepKind::Launched, encode(report))) return {};
  while (true) {
    std::vector<StepMessage> messages;
    {
      UniqueLock lock(mutex_);
      while (!ended_.load() && answers_[report.launch].empty()) answered_.wait(lock);
      messages.swap(answers_[report.launch]);
      if (messages.empty()) return {};
      answers_.erase(report.launch);
    }
    for (const StepMessage& m : messages) {
      if (m.kind == StepKind::Go) return {};
      const std::optional<StepAnswer> wanted = decode_answer(m.body);
      const auto output = std::find_if(outputs.begin(), outputs.end(),
                                       [&](const LaunchOutput& o) { return wanted && o.argument == wanted->argument; });
      if (output != outputs.end()) (void)send(StepKind::Data, encode(*wanted, output->bytes));
    }
  }
}

}  // namespace gt::tracer
