#include "transport/staging/stager.h"

#include "traces/base/clock.h"
#include "transport/staging/insist.h"
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
  explicit Use(Stager& stager) noexcept : stager_(stager), granted_(stager.begin()) {}
  ~Use() {
    if (granted_) stager_.end();
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  bool granted() const noexcept { return granted_; }
  void hand_over() noexcept { granted_ = false; }  // somebody else will call end()

 private:
  Stager& stager_;
  bool granted_;
};

void Stager::open(const ClFunctions& cl, cl_context context, cl_device_id device, CopyThreads& copy_threads,
                  Agent* agents, void (*publisher)(const EventFacts&), void (*meter)(const Spent&)) noexcept {
  const MutexLock lock(mutex_);
  cl_ = &cl;
  device_ = device;
  copy_threads_ = &copy_threads;
  agents_ = agents;
  publish_ = publisher;
  meter_ = meter;
  small_refused_ = false;
  placeholders_.store(Placeholders::Untried);
  for (PipelineSlot& b : slots_) b.refused = false;
  for (PipelineSlot& b : background_) b.refused = false;
  torn_down_.store(false);
  closing_.store(false);
  context_.store(context, std::memory_order_release);
}

bool Stager::begin() noexcept {
  users_.fetch_add(1);
  if (!closing_.load()) return true;
  end();
  return false;
}

void Stager::end() noexcept {
  if (users_.fetch_sub(1) == 1 && closing_.load()) tear_down();
}

void Stager::close() noexcept {
  closing_.store(true);
  if (users_.load() == 0) tear_down();
}

// By the last user of a closed stager, which may have been opened again, and be in use, before that one gets here.
void Stager::tear_down() noexcept {
  const MutexLock lock(mutex_);
  if (torn_down_.load() || !closing_.load() || users_.load() != 0) return;
  small_.close();
  for (PipelineSlot& b : slots_) b.pipeline.close();
  for (PipelineSlot& b : background_) b.pipeline.close();
  context_.store(nullptr);
  torn_down_.store(true, std::memory_order_release);
}

// Racing with an opening it may be one late; so would a native answer.
Stager::Held Stager::held() noexcept {
  Held h;
  if (small_.is_open()) small_.reap();
  h.buffers = small_.is_open() ? 1 : 0;
  const auto count = [&](const PipelineSlot& b) {
    h.buffers += b.pipeline.is_open() ? 1 : 0;
    h.queues += b.pipeline.queues();
  };
  for (const PipelineSlot& b : slots_) count(b);
  for (const PipelineSlot& b : background_) count(b);
  return h;
}

bool Stager::open_small() noexcept {
  const MutexLock lock(mutex_);
  if (small_.is_open()) return true;
  if (small_refused_) return false;
  small_refused_ = !small_.open(*cl_, *copy_threads_, context_);
  return !small_refused_;
}

bool Stager::has_placeholders() noexcept {
  if (placeholders_.load(std::memory_order_acquire) == Placeholders::Untried) {
    const MutexLock lock(mutex_);
    if (placeholders_.load(std::memory_order_relaxed) == Placeholders::Untried)
      placeholders_.store(placeholders_work(*cl_, context_, device_) ? Placeholders::Work : Placeholders::Fail,
                           std::memory_order_release);
  }
  return placeholders_.load(std::memory_order_relaxed) == Placeholders::Work;
}

bool Stager::make_ready(PipelineSlot& slot) noexcept {
  if (slot.pipeline.is_open()) return true;
  if (slot.refused) return false;
  slot.refused = !slot.pipeline.open(*cl_, *copy_threads_, context_, device_);
  return !slot.refused;
}

Stager::PipelineSlot* Stager::take_slot() noexcept {
  for (PipelineSlot& b : slots_) {
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
  if (behind && request.blocking && cl_->clWaitForEvents(request.waits, request.wait_list) != CL_SUCCESS) return false;
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
  if (meter_ && ns > 0)
    meter_({device_, transfer.way, transfer.region.shape, transfer.bytes(), ns, copying_only, transfer.fresh});
}

Pipeline::Outcome Stager::run(Pipeline& pipeline, const Pipeline::Run& what) noexcept {
  const auto outcome = pipeline.run(*copy_threads_, what);
  tell(what.transfer, outcome.moving_ns, outcome.parts == 1);
  return outcome;
}

// --- One chunk ---

bool Stager::by_chunk(const Request& r, cl_int* error) noexcept {
  const bool up = r.transfer.way == Way::ToDevice;
  // Nobody is there to copy what arrives after the call; a box may not fit into one part.
  const Parts parts(r.transfer, SmallChunks::ChunkBytes);
  if ((!up && !r.blocking) || parts.count() != 1 || !open_small()) return false;
  const int chunk = small_.take();
  if (chunk == SmallChunks::None) return false;
  char* const memory = small_.data(chunk);
  uint64_t copy_ns = 0;
  const auto copy = [&] {
    const uint64_t start = monotonic_ns();
    copy_threads_->copy(parts.copy(0, memory));
    copy_ns = monotonic_ns() - start;
  };
  if (up) copy();
  cl_event event = nullptr;
  if (parts.enqueue(*cl_, r.queue.queue, 0, memory, r.waits, r.wait_list, &event) != CL_SUCCESS) {
    small_.give_back(chunk);
    return false;  // the program's own call says why
  }
  if (r.blocking && cl_->clWaitForEvents(1, &event) != CL_SUCCESS) {
    small_.give_back_after(chunk, event);
    return false;  // likewise; if it was only the waiting that failed, it succeeds
  }
  *error = CL_SUCCESS;
  if (r.transfer.region.shape != r.transfer.called) publish(r, event);
  if (!up) copy();
  tell(r.transfer, copy_ns, true);
  if (r.blocking) {
    small_.give_back(chunk);
    if (r.event)
      *r.event = event;
    else
      cl_->clReleaseEvent(event);
    return true;
  }
  if (r.event) {
    *r.event = event;
    // Without a reference nobody can tell when the chunk is free: it stays taken.
    if (!insist([&] { return cl_->clRetainEvent(event); })) return true;
  }
  small_.give_back_after(chunk, event);
  return true;
}

// --- Pipelined ---

void Stager::publish(const Request& r, cl_event event) noexcept {
  if (r.event && publish_) publish_({event, r.transfer.way, r.transfer.called});
}

void Stager::publish_outcome(const HostTransfer& transfer, cl_event event, const Pipeline::Outcome& outcome) noexcept {
  // What a failed wait list makes of those who wait, the driver itself says best.
  const bool waited_in_vain = outcome.error == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  const cl_int error = waited_in_vain ? CL_SUCCESS : outcome.error;
  if (publish_ && (outcome.start_ns || error))
    publish_({event, transfer.way, transfer.called, outcome.start_ns, error});
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
  if (!has_placeholders() || !placeholder.open(*cl_, r.queue, r.waits, r.wait_list)) return false;
  publish(r, placeholder.after());
  const cl_event before = placeholder.before();
  const auto outcome = run(pipeline, {.transfer = r.transfer,
                                      .waits = before ? 1u : 0u,
                                      .wait_list = before ? &before : nullptr,
                                      .timed = is_timed(r)});
  if (r.event) publish_outcome(r.transfer, placeholder.after(), outcome);
  placeholder.finish(*cl_, outcome.error);
  *error = outcome.error;
  cl_event after = placeholder.after();
  if (!r.event) {
    cl_->clReleaseEvent(after);
    return true;
  }
  cl_->clWaitForEvents(1, &after);  // a blocking call's event is complete when it returns
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
  if (!last && cl_->clEnqueueMarkerWithWaitList(r.queue.queue, 0, nullptr, &last) == CL_SUCCESS)
    cl_->clWaitForEvents(1, &last);
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
  const MutexLock lock(mutex_);
  return make_ready(background_[static_cast<size_t>(way)]);
}

// Shared virtual memory is the program's to keep until its commands are over.
bool Stager::keep(const HostTransfer& transfer) noexcept {
  return !transfer.mem || cl_->clRetainMemObject(transfer.mem) == CL_SUCCESS;
}
void Stager::let_go(const HostTransfer& transfer) noexcept {
  if (transfer.mem) cl_->clReleaseMemObject(transfer.mem);
}

bool Stager::by_agent(const Request& r, cl_int* error) noexcept {
  if (!agents_) return false;
  Agent& agent = agents_[static_cast<size_t>(r.transfer.way)];
  if (!has_placeholders() || !make_background_ready(r.transfer.way) || !agent.reserve()) return false;
  Agent::Job job;
  if (!job.placeholder.open(*cl_, r.queue, r.waits, r.wait_list)) {
    agent.cancel();
    return false;
  }
  // The program may release what the transfer moves. And its reference to the event; the agent has its own.
  const bool kept = keep(r.transfer);
  if (!kept || (r.event && cl_->clRetainEvent(job.placeholder.after()) != CL_SUCCESS)) {
    if (kept) let_go(r.transfer);
    job.placeholder.finish(*cl_, CL_SUCCESS);  // nothing passed through it
    cl_->clReleaseEvent(job.placeholder.after());
    agent.cancel();
    return false;
  }
  job.owner = this;
  job.cl = cl_;
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
  Pipeline& pipeline = background_[static_cast<size_t>(transfer.way)].pipeline;
  const cl_event before = placeholder.before();
  Pipeline::Outcome outcome{.error = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST};
  // To have seen its state is no synchronization point (OpenCL 3.0, table of clGetEventInfo): the commands wait, too.
  if (placeholder.state(*cl_) != QueuePlaceholder::State::Failed)
    outcome = run(
        pipeline,
        {.transfer = transfer, .waits = before ? 1u : 0u, .wait_list = before ? &before : nullptr, .timed = job.timed});
  if (job.published) publish_outcome(transfer, placeholder.after(), outcome);
  let_go(transfer);
  placeholder.finish(*cl_, outcome.error);
  cl_->clReleaseEvent(placeholder.after());
  end();
}

}  // namespace gt::staging
