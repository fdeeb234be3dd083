#include "transport/executor/transfer/stream_read.h"

#include "transport/chunks/chunk_packer.h"
#include "transport/protocol/chunk_messages.h"

namespace gt::exec {

std::optional<wire::Ticket> ToClient::put(const void* memory, const copy::Chunks::Chunk& chunk,
                                          chunks::ChunkPacker& packer, Bytes& packed) {
  const MessageSender::Use use(session_.out);
  if (!use.open()) return {};
  if (packing_.is_never()) return use.link().put(memory, {to_.segment, to_.offset + chunk.offset}, chunk.bytes);
  return put_noticed(use.link(), memory, chunk, packer, packed);
}

wire::Ticket ToClient::put_noticed(wire::Link& link, const void* memory, const copy::Chunks::Chunk& chunk,
                                   chunks::ChunkPacker& packer, Bytes& packed) {
  const wire::Address to{to_.segment, to_.offset + chunk.offset};
  const uint32_t number = next_++;
  packer.open(packing_);
  chunks::PackAccount& account = packer.account();
  const wire::Notice plain = wire::read_notice(transfer_, number, false);
  const auto* const from = static_cast<const uint8_t*>(memory);
  if (chunk.bytes >= wire::Link::LeastPaced && account.wants_measure()) {
    const wire::Ticket ticket = link.put(from, to, chunk.bytes, plain);
    if (const auto pace = link.pace(ticket, chunk.bytes / 4 * 3)) account.measured(pace->bytes, pace->ns);
    return ticket;
  }
  const size_t bytes = packer.pack_chunk({from, chunk.bytes}, packed);
  if (bytes == 0) return link.put(from, to, chunk.bytes, plain);
  session_.count.packed_bytes_out += chunk.bytes - bytes;
  return link.put(packed.data(), to, bytes, wire::read_notice(transfer_, number, true));
}

bool ToClient::wait(wire::Ticket ticket) {
  const MessageSender::Use use(session_.out);
  return !use.open() || use.link().wait(ticket).ok();
}

Reader::Reader(std::shared_ptr<Session> session, std::shared_ptr<EventWaiter> event_waiter,
               std::shared_ptr<Queue> queue)
    : session_(std::move(session)),
      event_waiter_(std::move(event_waiter)),
      queue_(std::move(queue)),
      packer_(std::make_unique<chunks::ChunkPacker>()) {}

Reader::~Reader() {
  pin_.reset();
  if (const MessageSender::Use use(session_->out); slots_ && use.open()) (void)use.link().withdraw(segment_).ok();
}

bool Reader::open(const std::shared_ptr<Reader>& self, cl_context context) {
  constexpr size_t StackBytes = size_t{512} << 10;
  count_ = session_->options.read_slots;
  slot_bytes_ = session_->options.slot_bytes;
  if (count_ == 0 || !make_slots(context)) return false;
  ring_.resize(count_);
  return session_->threads.start("gtrace-reads", StackBytes, [self] { self->serve(); });
}

bool Reader::make_slots(cl_context context) {
  const uint64_t bytes = count_ * slot_bytes_;
  const MessageSender::Use use(session_->out);
  if (!use.open()) return false;
  const Result<wire::SegmentId> segment = use.link().allocate(bytes, &slots_);
  if (!segment.ok()) return false;
  segment_ = *segment;
  pin_ = std::make_unique<Pin>(session_->cl, context, slots_, bytes);
  return true;
}

void Reader::expect() {
  const MutexLock lock(mutex_);
  ++expected_;
}

void Reader::post(std::unique_ptr<ReadJob> job, cl_int error) {
  if (error) job->to->fail();
  const MutexLock lock(mutex_);
  Work work;
  work.job = std::move(job);
  work.error = error;
  posted_.push_back(std::move(work));
  --expected_;
  changed_.notify_one();
}

void Reader::close() {
  const MutexLock lock(mutex_);
  closed_ = true;
  changed_.notify_one();
}

void Reader::serve() {
  UniqueLock lock(mutex_);
  for (;;) {
    const auto has_work = [this]() GT_REQUIRES(mutex_) { return !posted_.empty() || !work_.empty(); };
    changed_.wait(lock, [&]() GT_REQUIRES(mutex_) { return has_work() || (closed_ && expected_ == 0); });
    if (!has_work()) return;
    for (; !posted_.empty(); posted_.pop_front()) work_.push_back(std::move(posted_.front()));
    lock.unlock();
    while (next_ - free_ < count_ && start_chunk()) continue;
    if (fill_ < next_)
      send_oldest();
    else if (free_ < fill_)
      retire_oldest();
    end_finished();
    lock.lock();
  }
}

// The next chunk that is not begun goes to the device. False: there is none.
bool Reader::start_chunk() {
  for (Work& work : work_) {
    if (work.error || work.started == work.job->chunks.count()) continue;
    Slot& slot = ring_[next_ % count_];
    const cl_int code = enqueue_part(*session_, Way::ToHost, *queue_, work.job->memory,
                                     work.job->chunks.at(work.started).part, memory(next_), {}, &slot.filled);
    if (code != CL_SUCCESS) {
      fail(work, code);
      continue;
    }
    session_->cl.clFlush(queue_->handle);
    slot.work = &work;
    ++work.started;
    ++next_;
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
  Slot& slot = ring_[fill_ % count_];
  Work& work = *slot.work;
  const cl_int waited = session_->cl.clWaitForEvents(1, &slot.filled);
  const cl_int status = session_->cl.status(slot.filled);
  session_->cl.clReleaseEvent(slot.filled);
  if (waited != CL_SUCCESS || status < 0) fail(work, status < 0 ? status : waited);
  const copy::Chunks::Chunk chunk = work.job->chunks.at(work.filled++);
  slot.ticket = 0;
  if (work.filled == work.job->chunks.count()) leave_device(work);
  if (work.error == CL_SUCCESS) {
    const std::optional<wire::Ticket> ticket = work.job->to->put(memory(fill_), chunk, *packer_, slot.packed);
    ticket ? static_cast<void>(slot.ticket = *ticket) : fail(work, CL_OUT_OF_RESOURCES);
  }
  ++fill_;
}

void Reader::retire_oldest() {
  Slot& slot = ring_[free_ % count_];
  if (slot.ticket != 0 && !slot.work->job->to->wait(slot.ticket)) fail(*slot.work, CL_OUT_OF_RESOURCES);
  ++slot.work->sent;
  ++free_;
}

// The client's queue goes on.
void Reader::leave_device(Work& work) {
  work.left = true;
  work.job->placeholder.finish(session_->cl, work.error);
  work.job->memory.release(session_->cl);
}

void Reader::end_finished() {
  while (!work_.empty()) {
    Work& work = work_.front();
    const bool all_started = work.error != CL_SUCCESS || work.started == work.job->chunks.count();
    if (!all_started || work.sent != work.started) return;
    if (!work.left) leave_device(work);
    event_waiter_->await(std::move(work.job->told));
    work_.pop_front();
  }
}

}  // namespace gt::exec
