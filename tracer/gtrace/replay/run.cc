#include "tracer/gtrace/replay/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "tracer/gtrace/base/walk.h"
#include "traces/api/special.h"
#include "traces/model/fold/fold.h"

namespace gt::tracer {

using api::FnId;
using model::ArgForm;

namespace {

using Clock = std::chrono::steady_clock;

const OpenClLibrary* g_library = nullptr;  // of the replay that is running

api::ImageElements elements_of(cl_mem image) {
  const auto ask = g_library->get<decltype(clGetImageInfo)>(FnId::clGetImageInfo);
  const auto type_of = g_library->get<decltype(clGetMemObjectInfo)>(FnId::clGetMemObjectInfo);
  size_t bytes = 0;
  cl_mem_object_type type = 0;
  if (!ask || ask(image, CL_IMAGE_ELEMENT_SIZE, sizeof bytes, &bytes, nullptr) != CL_SUCCESS) return {};
  if (type_of) type_of(image, CL_MEM_TYPE, sizeof type, &type, nullptr);
  return {bytes, type == CL_MEM_OBJECT_IMAGE1D_ARRAY};
}

bool begins_with_callback(const model::Trace& trace, const std::vector<model::Node>& nodes) {
  bool callback = false;
  std::vector<int> counts;
  for (const model::Shape& s : trace.shapes) counts.push_back(s.values());
  (void)model::expand(nodes, counts, [&](model::ShapeId shape, std::span<const int64_t>) {
    callback = trace.shapes[shape].fn >= api::FirstCallbackFn;
    return false;
  });
  return callback;
}

std::vector<const model::Stream*> streams_of(const model::Trace& trace, uint32_t process) {
  std::vector<const model::Stream*> out;
  for (const model::Stream& s : trace.streams) {
    if (!s.memory && trace.threads[s.thread].process == process && !s.nodes.empty()) out.push_back(&s);
  }
  // What a callback did comes before what its thread did next, where no times tell.
  std::stable_partition(out.begin(), out.end(),
                        [&](const model::Stream* s) { return begins_with_callback(trace, s->nodes); });
  return out;
}

class Run {
 public:
  Run(ReplayWorld& world, const RunOptions& options, LastCall* last_call)
      : world_(world),
        options_(options),
        last_call_(last_call),
        streams_(streams_of(world.trace, options.process)),
        order_(order_by(), streams_.size()) {
    for (const model::Stream* s : streams_) counted_ = std::min(counted_, s->thread);
    counted_ = options.thread.value_or(counted_);
  }

  Result<RunTimes> run() {
    world_.alone = streams_.size() == 1;
    world_.overlaps &= world_.alone;  // what another thread needs is not known
    if (options_.first <= 1) begin();
    std::vector<std::thread> threads;
    for (size_t i = 1; i < streams_.size(); ++i) threads.emplace_back([this, i] { replay(i); });
    if (!streams_.empty()) replay(0);
    for (std::thread& t : threads) t.join();
    world_.gates.open_all();
    finish_queues();
    const MutexLock lock(mutex_);
    if (!failed_.ok()) return failed_;
    RunTimes times;
    times.wall_ns = static_cast<uint64_t>(std::chrono::nanoseconds(Clock::now() - began_).count());
    return times;
  }

 private:
  OrderBy order_by() const {
    if (options_.free_threads) return OrderBy::Nothing;
    const bool timed =
        std::all_of(streams_.begin(), streams_.end(), [](const model::Stream* s) { return !s->timeline.empty(); });
    return timed ? OrderBy::Times : OrderBy::Needs;
  }

  void begin() {
    world_.measures.store(true);
    const MutexLock lock(mutex_);
    began_ = Clock::now();
  }

  void replay(size_t at) {
    const model::Stream& stream = *streams_[at];
    Replayer replayer(world_);
    Walk walk;
    walk.timeless = order_.alone();
    walk.wanted = [](const model::Node&, uint64_t, uint64_t) { return true; };
    walk.visit = [&](const WalkedEvent& e) { return visit(at, replayer, e); };
    if (order_.alone() && makes_all()) walk.rounds = [&](model::Rounds& rounds, uint64_t number) {
      const Status s = replayer.call_rounds(rounds, number, last_call_);
      return s.ok() || fail(s);
    };
    walk.left_out = [&](const model::Node& node, uint64_t) {
      world_.outcome.left_out("calls that --max-size left out of the trace");
      return node.count.value == 0 || fail({Kind::Unsupported, "the trace lacks calls that --max-size left out"});
    };
    if (const Status s = walk_stream(world_.trace, stream, walk); !s.ok()) fail(s);
    replayer.finish();
    order_.finish(at);
  }

  // No call is left out, or looked at by somebody.
  bool makes_all() const {
    return options_.first <= 1 && options_.last == ~uint64_t{0} && !options_.makes && !world_.hook;
  }

  bool visit(size_t at, Replayer& replayer, const WalkedEvent& e) {
    const model::ThreadId thread = streams_[at]->thread;
    const bool counted = thread == counted_;
    if (counted && e.number > options_.last) return order_.stop(), false;
    if (options_.makes && !options_.makes(thread, e.number)) return true;
    std::optional<CallOrder::Turn> turn;  // others look at it until the call has returned
    if (!order_.alone()) turn = turn_of(e);
    if (turn ? !order_.enter(at, *turn) : order_.stopped()) return false;
    if (counted && e.number == options_.first && e.number > 1) {
      replayer.finish();
      if (!world_.gates.any_shut()) finish_queues();  // else some would wait for calls that are to come
      begin();
    }
    if (last_call_) last_call_->note(thread, world_.trace.shapes[e.shape].fn, e.number);
    Status s;
    if (!replayer.call_like_before(e, s)) s = replayer.call(e.shape, e.values, e.number);
    if (turn) order_.leave(at);
    if (!s.ok()) return fail(s);
    if (world_.hook && world_.hook->done()) return order_.stop(), false;
    return true;
  }

  CallOrder::Turn turn_of(const WalkedEvent& e) const {
    const uint16_t fn = world_.trace.shapes[e.shape].fn;
    const api::Attributes& a = api::attributes(fn);
    CallOrder::Turn turn;
    turn.entered = e.time ? e.time->entry_ns : e.number;
    if (e.time && e.time->duration_ns) turn.left = turn.entered + *e.time->duration_ns;
    // That the driver called is told by a line without an end; what the program's function did follows it.
    if (fn >= api::FirstCallbackFn) {
      turn.left = turn.entered;
      turn.waits = true;  // for the command that it is told of
    }
    turn.waits = a.waits || a.blocking >= 0;
    // A driver may call back before the call returns that registers the callback; here it has returned.
    if (order_.by() != OrderBy::Times || fn >= api::FirstCallbackFn)
      turn.ready = [this, &e] { return objects_are_there(e); };
    return turn;
  }

  // Of a call's arguments: those that it does not make itself.
  bool objects_are_there(const WalkedEvent& e) const {
    const model::Shape& shape = world_.trace.shapes[e.shape];
    const bool callback = shape.fn >= api::FirstCallbackFn;
    size_t value = 0;
    for (const model::Arg& a : shape.args) {
      const size_t at = value;
      value += static_cast<size_t>(model::value_count(a.form));
      const bool named = callback ? a.param == model::ParamCallback : a.param < api::param_count(shape.fn);
      if (a.form != ArgForm::Object || a.effect == model::Effect::Def || !named) continue;
      const model::ObjectKind kind = world_.trace.classes[a.cls].kind;
      if (kind == model::ObjectKind::Platform || kind == model::ObjectKind::Device) continue;
      if (world_.objects.find(a.cls, e.values[at]) == 0 && !was_met(world_.trace, a.cls)) return false;
    }
    return true;
  }

  void finish_queues() {
    const auto finish = world_.cl.get<decltype(clFinish)>(FnId::clFinish);
    for (const uint64_t queue : world_.queues.alive()) finish(reinterpret_cast<cl_command_queue>(queue));
  }

  bool fail(const Status& s) {
    {
      const MutexLock lock(mutex_);
      if (!failed_.ok()) return false;
      failed_ = s;
    }
    order_.stop();
    // Another thread may be in a call that waits for what is not going to happen.
    if (streams_.size() > 1 && options_.give_up) {
      std::thread([s, give_up = options_.give_up] {
        std::this_thread::sleep_for(std::chrono::seconds(3));
        give_up(s);
      }).detach();
    }
    return false;
  }

  ReplayWorld& world_;
  const RunOptions& options_;
  LastCall* last_call_;
  std::vector<const model::Stream*> streams_;
  model::ThreadId counted_ = model::NoIndex;
  CallOrder order_;
  Mutex mutex_;
  Status failed_ GT_GUARDED_BY(mutex_);
  Clock::time_point began_ GT_GUARDED_BY(mutex_) = Clock::now();
};

}  // namespace

Result<uint32_t> process_to_replay(const model::Trace& trace) {
  std::vector<uint64_t> calls(trace.processes.size());
  for (const model::Stream& s : trace.streams) {
    const uint32_t process = trace.threads[s.thread].process;
    if (!s.memory && process < calls.size()) calls[process] += model::event_count(s.nodes);
  }
  const auto most = std::max_element(calls.begin(), calls.end());
  if (most == calls.end() || *most == 0)
    return Status(Kind::Invalid, "no OpenCL call was recorded: there is nothing to replay");
  return static_cast<uint32_t>(most - calls.begin());
}

Result<RunTimes> run_replay(ReplayWorld& world, const RunOptions& options, LastCall* last_call) {
  g_library = &world.cl;
  api::image_elements = &elements_of;
  return Run(world, options, last_call).run();
}

}  // namespace gt::tracer
