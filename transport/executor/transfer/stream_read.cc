#include "transport/executor/transfer/stream_read.h"


namespace gt::exec {

std::optional<wire::Ticket> ToClient::put(const void* memory, const wire::Chunks::Chunk& chunk) {
  const MessageSender::Use use(x_out);
  if (!use.open()) return {};
  return use.link().put(memory, {x_to.segment, x_to.offset + chunk.offset}, chunk.bytes);
}

bool ToClient::wait(wire::Ticket ticket) {
  const MessageSender::Use use(x_out);
  return !use.open() || use.link().wait(ticket).ok();
}

Reader::~Reader() {
  x_pin.reset();
  if (const MessageSender::Use use(x_session->out); x_slots && use.open()) (void)use.link().withdraw(x_segment).ok();
}

bool Reader::open(const std::shared_ptr<Reader>& self, cl_context context) {
  constexpr size_t StackBytes = size_t{512} << 10;
  x_count = x_session->options.read_slots;
  x_slot_bytes = x_session->options.slot_bytes;
  if (x_count == 0 || !make_slots(context)) return false;
  x_ring.resize(x_count);
  return x_session->threads.start("gtrace-reads", StackBytes, [self] { self->serve(); });
}

bool Reader::make_slots(cl_context context) {
  const uint64_t bytes = x_count * x_slot_bytes;
  const MessageSender::Use use(x_session->out);
  if (!use.open()) return false;
  const Result<wire::SegmentId> segment = use.link().allocate(bytes, &x_slots);
  if (!segment.ok()) return false;
  x_segment = *segment;
  x_pin = std::make_unique<Pin>(x_session->cl, context, x_slots, bytes);
  return true;
}

void Reader::expect() {
  const std::lock_guard lock(x_mutex);
  ++x_expected;
}

void Reader::post(std::unique_ptr<ReadJob> job, cl_int error) {
  if (error) job->to->fail();
  const std::lock_guard lock(x_mutex);
  Work work;
  work.job = std::move(job);
  work.error = error;
  x_posted.push_back(std::move(work));
  --x_expected;
  x_changed.notify_one();
}

void Reader::close() {
  const std::lock_guard lock(x_mutex);
  x_closed = true;
  x_changed.notify_one();
}

void Reader::serve() {
  std::unique_lock lock(x_mutex);
  for (;;) {
    const auto has_work = [this] { return !x_posted.empty() || !x_work.empty(); };
    x_changed.wait(lock, [&] { return has_work() || (x_closed && x_expected == 0); });
    if (!has_work()) return;
    for (; !x_posted.empty(); x_posted.pop_front()) x_work.push_back(std::move(x_posted.front()));
    lock.unlock();
    while (x_next - x_free < x_count && start_chunk()) continue;
    if (x_fill < x_next)
      send_oldest();
    else if (x_free < x_fill)
      retire_oldest();
    end_finished();
    lock.lock();
  }
}

// The next chunk that is not begun goes to the device. False: there is none.
bool Reader::start_chunk() {
  for (Work& work : x_work) {
    if (work.error || work.started == work.job->chunks.count()) continue;
    Slot& slot = x_ring[x_next % x_count];
    const cl_int code = enqueue_part(*x_session, Way::ToHost, *x_queue, work.job->memory,
                                     work.job->chunks.at(work.started).part, memory(x_next), {}, &slot.filled);
    if (code != CL_SUCCESS) {
      fail(work, code);
      continue;
    }
    x_session->cl.clFlush(x_queue->handle);
    slot.work = &work;
    ++work.started;
    ++x_next;
    return true;
  }
  return false;
}

void Reader::fail(Work& work, cl_int error) {
  if (work.error == CL_SUCCESS) work.job->to->fail();
  if (work.error == CL_SUCCESS) work.error = error;
}

// Waits for the device to fill the oldest slot, and puts it.
void Reader::send_oldest() {
  Slot& slot = x_ring[x_fill % x_count];
  Work& work = *slot.work;
  const cl_int waited = x_session->cl.clWaitForEvents(1, &slot.filled);
  const cl_int status = x_session->cl.status(slot.filled);
  x_session->cl.clReleaseEvent(slot.filled);
  if (waited != CL_SUCCESS || status < 0) fail(work, status < 0 ? status : waited);
  const wire::Chunks::Chunk chunk = work.job->chunks.at(work.filled++);
  slot.ticket = 0;
  if (work.filled == work.job->chunks.count()) leave_device(work);
  if (work.error == CL_SUCCESS) {
    const std::optional<wire::Ticket> ticket = work.job->to->put(memory(x_fill), chunk);
    ticket ? static_cast<void>(slot.ticket = *ticket) : fail(work, CL_OUT_OF_RESOURCES);
  }
  ++x_fill;
}

void Reader::retire_oldest() {
  Slot& slot = x_ring[x_free % x_count];
  if (slot.ticket != 0 && !slot.work->job->to->wait(slot.ticket)) fail(*slot.work, CL_OUT_OF_RESOURCES);
  ++slot.work->sent;
  ++x_free;
}

// The client's queue goes on.
void Reader::leave_device(Work& work) {
  work.left = true;
  work.job->placeholder.finish(x_session->cl, work.error);
  work.job->memory.release(x_session->cl);
}

void Reader::end_finished() {
  while (!x_work.empty()) {
    Work& work = x_work.front();
    const bool all_started = work.error != CL_SUCCESS || work.started == work.job->chunks.count();
    if (!all_started || work.sent != work.started) return;
    if (!work.left) leave_device(work);
    x_event_waiter->await(std::move(work.job->told));
    x_work.pop_front();
  }
}

}  // namespace gt::exec
