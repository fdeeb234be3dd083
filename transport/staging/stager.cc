#include "transport/staging/stager.h"

#include "traces/base/clock.h"
#include "traces/base/lock.h"
#include "transport/staging/placeholder_trial.h"
#include "transport/staging/program_faults.h"

namespace gt::staging {
namespace {

// Else the driver's threads run the program's handler, one fault after the other and when the transfer's turn comes.
bool is_plain(const HostTransfer& transfer) { return !faults_are_handled() || is_there(transfer); }

// Somebody may ask when it ran.
bool is_timed(const Request& r) { return r.event && r.queue.profiling; }

}  // namespace

// Keeps the stager open for one transfer.
class Stager::Use {
 public:
  explicit Use(Stager& stager) noexcept : x_stager(stager), x_granted(stager.begin()) {}
  ~Use() {
    if (x_granted) x_stager.end();
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  bool granted() const noexcept { return x_granted; }
  void hand_over() noexcept { x_granted = false; }  // somebody else will call end()

 private:
  Stager& x_stager;
  bool x_granted;
};

void Stager::open(const ClFunctions& cl, cl_context context, cl_device_id device, CopyThreads& copy_threads,
                  Agent* agents, void (*publisher)(const EventFacts&), void (*meter)(const Spent&)) noexcept {
  x_cl = &cl;
  x_device = device;
  x_copy_threads = &copy_threads;
  x_agents = agents;
  x_publish = publisher;
  x_meter = meter;
  x_small_refused = false;
  x_placeholders.store(Placeholders::Untried);
  for (PipelineSlot& b : x_slots) b.refused = false;
  for (PipelineSlot& b : x_background) b.refused = false;
  x_torn_down.store(false);
  x_closing.store(false);
  x_context.store(context, std::memory_order_release);
}

bool Stager::begin() noexcept {
  x_users.fetch_add(1);
  if (!x_closing.load()) return true;
  end();
  return false;
}

void Stager::end() noexcept {
  if (x_users.fetch_sub(1) == 1 && x_closing.load()) tear_down();
}

void Stager::close() noexcept {
  x_closing.store(true);
  if (x_users.load() == 0) tear_down();
}

void Stager::tear_down() noexcept {
  const Lock lock(x_mutex);
  if (x_torn_down.load()) return;
  x_small.close();
  for (PipelineSlot& b : x_slots) b.pipeline.close();
  for (PipelineSlot& b : x_background) b.pipeline.close();
  x_context.store(nullptr);
  x_torn_down.store(true, std::memory_order_release);
}

// Racing with an opening it may be one late; so would a native answer.
Stager::Held Stager::held() noexcept {
  Held h;
  if (x_small.is_open()) x_small.reap();
  h.buffers = x_small.is_open() ? 1 : 0;
  const auto count = [&](const PipelineSlot& b) {
    h.buffers += b.pipeline.is_open() ? 1 : 0;
    h.queues += b.pipeline.queues();
  };
  for (const PipelineSlot& b : x_slots) count(b);
  for (const PipelineSlot& b : x_background) count(b);
  return h;
}

bool Stager::open_small() noexcept {
  const Lock lock(x_mutex);
  if (x_small.is_open()) return true;
  if (x_small_refused) return false;
  x_small_refused = !x_small.open(*x_cl, *x_copy_threads, x_context);
  return !x_small_refused;
}

bool Stager::has_placeholders() noexcept {
  if (x_placeholders.load(std::memory_order_acquire) == Placeholders::Untried) {
    const Lock lock(x_mutex);
    if (x_placeholders.load(std::memory_order_relaxed) == Placeholders::Untried)
      x_placeholders.store(placeholders_work(*x_cl, x_context, x_device) ? Placeholders::Work : Placeholders::Fail,
                           std::memory_order_release);
  }
  return x_placeholders.load(std::memory_order_relaxed) == Placeholders::Work;
}

bool Stager::make_ready(PipelineSlot& slot) noexcept {
  if (slot.pipeline.is_open()) return true;
  if (slot.refused) return false;
  slot.refused = !slot.pipeline.open(*x_cl, *x_copy_threads, x_context, x_device);
  return !slot.refused;
}

Stager::PipelineSlot* Stager::take_slot() noexcept {
  for (PipelineSlot& b : x_slots) {
    if (b.taken.exchange(true, std::memory_order_acquire)) continue;
    if (make_ready(b)) return &b;
    b.taken.store(false, std::memory_order_release);
  }
  return nullptr;
}

bool Stager::transfer(const Request& request, cl_int* error) noexcept {
  Use use(*this);
  if (!use.granted()) return false;
  const size_t bytes = request.transfer.bytes();
  if (bytes == 0 || !Parts(request.transfer, chunk_bytes_for(bytes)).fits()) return false;
  // What is waited for may be what fills the program's memory: bytes are copied when it is over, not when the program
  // calls. One chunk without a thread that could wait is the driver's.
  if (!is_plain(request.transfer)) return false;
  const bool behind = request.transfer.way == Way::ToDevice && request.waits > 0;
  if (behind && !request.blocking && bytes <= SmallChunks::ChunkBytes) return false;
  if (behind && request.blocking && x_cl->clWaitForEvents(request.waits, request.wait_list) != CL_SUCCESS) return false;
  if (bytes <= SmallChunks::ChunkBytes && by_chunk(request, error)) return true;
  if (request.blocking) return by_pipeline(request, error);
  if (!by_agent(request, error)) return false;
  use.hand_over();
  return true;
}

bool Stager::transfer_alone(const HostTransfer& transfer) noexcept {
  const Use use(*this);
  const size_t bytes = transfer.bytes();
  if (!use.granted() || bytes == 0 || !Parts(transfer, chunk_bytes_for(bytes)).fits()) return false;
  if (!is_plain(transfer)) return false;
  PipelineSlot* const slot = take_slot();
  if (!slot) return false;
  const auto outcome = run(slot->pipeline, {.transfer = transfer});
  slot->taken.store(false, std::memory_order_release);
  return outcome.error == CL_SUCCESS;
}

void Stager::tell(const HostTransfer& transfer, uint64_t ns, bool copying_only) noexcept {
  if (x_meter && ns > 0)
    x_meter({x_device, transfer.way, transfer.shape, transfer.bytes(), ns, copying_only, transfer.fresh});
}

Pipeline::Outcome Stager::run(Pipeline& pipeline, const Pipeline::Run& what) noexcept {
  const auto outcome = pipeline.run(*x_copy_threads, what);
  tell(what.transfer, outcome.moving_ns, outcome.parts == 1);
  return outcome;
}

// --- One chunk ---

bool Stager::by_chunk(const Request& r, cl_int* error) noexcept {
  const bool up = r.transfer.way == Way::ToDevice;
  // Nobody is there to copy what arrives after the call; a box may not fit into one part.
  const Parts parts(r.transfer, SmallChunks::ChunkBytes);
  if ((!up && !r.blocking) || parts.count() != 1 || !open_small()) return false;
  const int chunk = x_small.take();
  if (chunk == SmallChunks::None) return false;
  char* const memory = x_small.data(chunk);
  uint64_t copy_ns = 0;
  const auto copy = [&] {
    const uint64_t start = monotonic_ns();
    x_copy_threads->copy(parts.copy(0, memory));
    copy_ns = monotonic_ns() - start;
  };
  if (up) copy();
  cl_event event = nullptr;
  if (parts.enqueue(*x_cl, r.queue.queue, 0, memory, r.waits, r.wait_list, &event) != CL_SUCCESS) {
    x_small.give_back(chunk);
    return false;  // the program's own call says why
  }
  if (r.blocking && x_cl->clWaitForEvents(1, &event) != CL_SUCCESS) {
    x_small.give_back_after(chunk, event);
    return false;  // likewise; if it was only the waiting that failed, it succeeds
  }
  *error = CL_SUCCESS;
  if (r.transfer.shape != r.transfer.called) publish(r, event);
  if (!up) copy();
  tell(r.transfer, copy_ns, true);
  if (r.blocking) {
    x_small.give_back(chunk);
    if (r.event)
      *r.event = event;
    else
      x_cl->clReleaseEvent(event);
    return true;
  }
  if (r.event) {
    *r.event = event;
    // Without a reference nobody can tell when the chunk is free: it stays taken.
    if (!insist([&] { return x_cl->clRetainEvent(event); })) return true;
  }
  x_small.give_back_after(chunk, event);
  return true;
}

// --- Pipelined ---

void Stager::publish(const Request& r, cl_event event) noexcept {
  if (r.event && x_publish) x_publish({event, r.transfer.way, r.transfer.called});
}

void Stager::publish_outcome(const HostTransfer& transfer, cl_event event, const Pipeline::Outcome& outcome) noexcept {
  // What a failed wait list makes of those who wait, the driver itself says best.
  const bool waited_in_vain = outcome.error == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  const cl_int error = waited_in_vain ? CL_SUCCESS : outcome.error;
  if (x_publish && (outcome.start_ns || error))
    x_publish({event, transfer.way, transfer.called, outcome.start_ns, error});
}

bool Stager::by_pipeline(const Request& r, cl_int* error) noexcept {
  PipelineSlot* const slot = take_slot();
  if (!slot) return false;
  const bool alone = r.queue.in_order && !r.queue.shared;
  const bool done = alone ? run_in_queue(slot->pipeline, r, error) : run_behind_placeholder(slot->pipeline, r, error);
  slot->taken.store(false, std::memory_order_release);
  return done;
}

bool Stager::run_behind_placeholder(Pipeline& pipeline, const Request& r, cl_int* error) noexcept {
  QueuePlaceholder placeholder;
  if (!has_placeholders() || !placeholder.open(*x_cl, r.queue, r.waits, r.wait_list)) return false;
  publish(r, placeholder.after());
  const cl_event before = placeholder.before();
  const auto outcome = run(pipeline, {.transfer = r.transfer,
                                      .waits = before ? 1u : 0u,
                                      .wait_list = before ? &before : nullptr,
                                      .timed = is_timed(r)});
  if (r.event) publish_outcome(r.transfer, placeholder.after(), outcome);
  placeholder.finish(*x_cl, outcome.error);
  *error = outcome.error;
  cl_event after = placeholder.after();
  if (!r.event) {
    x_cl->clReleaseEvent(after);
    return true;
  }
  x_cl->clWaitForEvents(1, &after);  // a blocking call's event is complete when it returns
  *r.event = after;
  return true;
}

bool Stager::run_in_queue(Pipeline& pipeline, const Request& r, cl_int* error) noexcept {
  cl_event last = nullptr;
  const auto outcome = run(pipeline, {.transfer = r.transfer,
                                      .queue = r.queue.queue,
                                      .waits = r.waits,
                                      .wait_list = r.wait_list,
                                      .timed = is_timed(r),
                                      .last = r.event ? &last : nullptr});
  if (outcome.refused) return false;  // the program's own call says why
  *error = outcome.error;
  if (!r.event) return true;
  // The last part was moved directly, without an event.
  if (!last && x_cl->clEnqueueMarkerWithWaitList(r.queue.queue, 0, nullptr, &last) == CL_SUCCESS)
    x_cl->clWaitForEvents(1, &last);
  if (!last) {  // the data is there, but no event can be made
    *error = CL_OUT_OF_RESOURCES;
    return true;
  }
  publish(r, last);
  publish_outcome(r.transfer, last, outcome);
  *r.event = last;
  return true;
}

// --- In the background ---

bool Stager::make_background_ready(Way way) noexcept {
  const Lock lock(x_mutex);
  return make_ready(x_background[static_cast<size_t>(way)]);
}

// Shared virtual memory is the program's to keep until its commands are over.
bool Stager::keep(const HostTransfer& transfer) noexcept {
  return !transfer.mem || x_cl->clRetainMemObject(transfer.mem) == CL_SUCCESS;
}
void Stager::let_go(const HostTransfer& transfer) noexcept {
  if (transfer.mem) x_cl->clReleaseMemObject(transfer.mem);
}

bool Stager::by_agent(const Request& r, cl_int* error) noexcept {
  if (!x_agents) return false;
  Agent& agent = x_agents[static_cast<size_t>(r.transfer.way)];
  if (!has_placeholders() || !make_background_ready(r.transfer.way) || !agent.reserve()) return false;
  Agent::Job job;
  if (!job.placeholder.open(*x_cl, r.queue, r.waits, r.wait_list)) {
    agent.cancel();
    return false;
  }
  // The program may release what the transfer moves. And its reference to the event; the agent has its own.
  const bool kept = keep(r.transfer);
  if (!kept || (r.event && x_cl->clRetainEvent(job.placeholder.after()) != CL_SUCCESS)) {
    if (kept) let_go(r.transfer);
    job.placeholder.finish(*x_cl, CL_SUCCESS);  // nothing passed through it
    x_cl->clReleaseEvent(job.placeholder.after());
    agent.cancel();
    return false;
  }
  job.owner = this;
  job.cl = x_cl;
  job.transfer = r.transfer;
  job.published = r.event != nullptr;
  job.timed = is_timed(r);
  publish(r, job.placeholder.after());
  if (r.event) *r.event = job.placeholder.after();
  *error = CL_SUCCESS;
  agent.post(job);
  return true;
}

// On the agent's thread.
void Stager::run_in_background(const Agent::Job& job) noexcept {
  const HostTransfer& transfer = job.transfer;
  QueuePlaceholder placeholder = job.placeholder;
  Pipeline& pipeline = x_background[static_cast<size_t>(transfer.way)].pipeline;
  const cl_event before = placeholder.before();
  Pipeline::Outcome outcome{.error = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST};
  // To have seen its state is no synchronization point (OpenCL 3.0, table of clGetEventInfo): the commands wait, too.
  if (placeholder.state(*x_cl) != QueuePlaceholder::State::Failed)
    outcome = run(
        pipeline,
        {.transfer = transfer, .waits = before ? 1u : 0u, .wait_list = before ? &before : nullptr, .timed = job.timed});
  if (job.published) publish_outcome(transfer, placeholder.after(), outcome);
  let_go(transfer);
  placeholder.finish(*x_cl, outcome.error);
  x_cl->clReleaseEvent(placeholder.after());
  end();
}

}  // namespace gt::staging
