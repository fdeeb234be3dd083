#include "transport/executor/transfer/stream_write.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <thread>

namespace gt::exec {

// Slots are given back when the lock is released: who hears of it may send the next chunk from the same thread.
class GT_SCOPED_CAPABILITY WriteJob::Work {
 public:
  explicit Work(WriteJob& job) GT_ACQUIRE(job.mutex_) : job_(job) { job_.mutex_.lock(); }
  ~Work() GT_RELEASE() {
    job_.end_if_done();
    const std::vector<uint32_t> free = std::move(job_.free_);
    job_.free_.clear();
    job_.mutex_.unlock();
    job_.inbox_->give_back(free);
  }

 private:
  WriteJob& job_;
};

WriteJob::Arrival WriteJob::arrive(Arrived chunk) {
  const Work work(*this);
  const bool fits = error_ ? chunk.bytes <= left_ : left_ > 0 && chunk.bytes == chunks_->at(arrived_).bytes;
  if (!fits) return Arrival::Wrong;
  ++arrived_;
  left_ -= chunk.bytes;
  const Arrival arrival = left_ > 0 ? Arrival::More : Arrival::Last;
  if (begun_ || error_) {
    start(std::move(chunk));
  } else {
    waiting_.push_back(std::move(chunk));
    const bool kept = !inbox_->is_short() || inbox_->keep(inbox_, shared_from_this());
    if (!kept && !move(waiting_.back())) refuse(CL_OUT_OF_RESOURCES);
  }
  return arrival;
}

bool WriteJob::leave_slots(bool move_them) {
  const Work work(*this);
  return std::all_of(waiting_.begin(), waiting_.end(),
                     [&](Arrived& chunk) GT_REQUIRES(mutex_) { return chunk.moved || (move_them && move(chunk)); });
}

void WriteJob::begin(cl_int error) {
  const Work work(*this);
  begun_ = true;
  if (error_ == CL_SUCCESS) error_ = error;
  for (; !waiting_.empty(); waiting_.pop_front()) start(std::move(waiting_.front()));
}

void WriteJob::give_up(cl_int error) {
  const Work work(*this);
  if (left_ > 0 || !waiting_.empty()) refuse(error);
}

void WriteJob::refuse(cl_int error) {
  if (error_ == CL_SUCCESS) error_ = error;
  for (; !waiting_.empty(); waiting_.pop_front()) drop(waiting_.front());
}

void WriteJob::start(Arrived chunk) {
  const uint64_t index = started_++;
  if (error_) return drop(chunk);
  const Cl& cl = inbox_->session().cl;
  void* const memory = chunk.moved ? chunk.moved.get() : inbox_->memory(chunk.slot);
  const MutexLock enqueue(queue_->enqueue);
  Awaited awaited;
  error_ = enqueue_part(inbox_->session(), Way::ToDevice, *queue_, memory_, chunks_->at(index).part, memory, {},
                         &awaited.event);
  if (error_) return drop(chunk);
  cl.clFlush(queue_->handle);
  ++under_way_;
  awaited.queue = queue_;
  awaited.order = ++queue_->order;
  awaited.then = make_then([job = shared_from_this(), taken = std::move(chunk)](cl_int status, News&) mutable {
    job->taken(std::move(taken), status);
  });
  inbox_->event_waiter().await(std::move(awaited));
}

void WriteJob::drop(Arrived& chunk) {
  if (!chunk.moved) return free_.push_back(chunk.slot);
  chunk.moved.reset();
  inbox_->session().in_flight.let_go(chunk.bytes);
}

// From its slot to ordinary memory. False: there is none, or the client has as much of it as it may have.
bool WriteJob::move(Arrived& chunk) {
  InFlight& in_flight = inbox_->session().in_flight;
  if (!in_flight.try_hold(chunk.bytes)) return false;
  chunk.moved.reset(new (std::nothrow) uint8_t[chunk.bytes]);
  if (!chunk.moved) return in_flight.let_go(chunk.bytes), false;
  std::memcpy(chunk.moved.get(), inbox_->memory(chunk.slot), chunk.bytes);
  free_.push_back(chunk.slot);
  return true;
}

void WriteJob::taken(Arrived chunk, cl_int status) {
  const Work work(*this);
  --under_way_;
  inbox_->device_took_one();
  if (status < 0 && error_ == CL_SUCCESS) error_ = status;
  drop(chunk);
}

void WriteJob::end_if_done() {
  const bool done = error_ || (left_ == 0 && started_ == arrived_);
  if (ended_ || !done || under_way_ > 0) return;
  ended_ = true;
  const Cl& cl = inbox_->session().cl;
  placeholder_.finish(cl, error_);
  memory_.release(cl);
}

Status Inbox::open(wire::Link& link) {
  const uint32_t slots = session_->options.inbox_slots;
  if (slots == 0) return {};
  const Result<wire::SegmentId> segment = link.allocate(slots * slot_bytes(), &base_);
  if (!segment.ok()) return segment.status();
  segment_ = *segment;
  slots_ = slots;
  const MutexLock lock(mutex_);
  taken_.resize(slots);
  held_.resize(slots);
  return {};
}

bool Inbox::add(uint32_t transfer, const std::shared_ptr<WriteJob>& job) {
  auto arrival = WriteJob::Arrival::More;
  for (;;) {
    std::vector<Arrived> early;
    {
      const MutexLock lock(mutex_);
      if (jobs_.contains(transfer) || closed_) return false;
      if (const auto it = early_.find(transfer); it != early_.end()) {
        early = std::move(it->second);
        early_.erase(it);
      } else if (arrival == WriteJob::Arrival::More) {  // what comes from now on goes to the job itself
        jobs_.emplace(transfer, job);
      }
    }
    if (early.empty()) return true;
    for (Arrived& chunk : early) {
      if (arrival != WriteJob::Arrival::More) return false;
      arrival = job->arrive(std::move(chunk));
    }
    if (arrival == WriteJob::Arrival::Wrong) return false;
  }
}

bool Inbox::arrive(wire::Notice notice, uint64_t bytes) {
  Arrived chunk{wire::slot_of(notice), bytes, nullptr};
  const uint32_t transfer = wire::transfer_of(notice);
  std::shared_ptr<WriteJob> job;
  {
    const MutexLock lock(mutex_);
    if (chunk.slot >= taken_.size() || taken_[chunk.slot] || bytes == 0 || bytes > slot_bytes()) return false;
    taken_[chunk.slot] = true;
    ++taken_count_;
    const auto it = jobs_.find(transfer);
    if (it == jobs_.end()) {
      early_[transfer].push_back(std::move(chunk));
      return true;
    }
    job = it->second;
  }
  const WriteJob::Arrival arrival = job->arrive(std::move(chunk));
  if (arrival == WriteJob::Arrival::Last) {
    const MutexLock lock(mutex_);
    jobs_.erase(transfer);
  }
  return arrival != WriteJob::Arrival::Wrong;
}

bool Inbox::is_short() {
  const MutexLock lock(mutex_);
  return taken_count_ * 2 > taken_.size();
}

bool Inbox::keep(const std::shared_ptr<Inbox>& self, const std::shared_ptr<WriteJob>& job) {
  constexpr size_t StackBytes = size_t{512} << 10;
  const MutexLock lock(mutex_);
  if (!relieving_ && !closed_)
    relieving_ = session_->threads.start("gtrace-slots", StackBytes, [self] { self->relieve(); });
  const bool known = std::any_of(keeping_.begin(), keeping_.end(), [&](const Kept& k) { return k.job == job; });
  if (!relieving_ || known) return relieving_;
  keeping_.push_back({job});
  if (keeping_.size() == 1) needed_.notify_one();
  return true;
}

void Inbox::relieve() {
  constexpr std::chrono::milliseconds Pause{1};
  InFlight::Watch watch(session_->in_flight);
  UniqueLock lock(mutex_);
  while (!closed_) {
    if (keeping_.empty()) {
      needed_.wait(lock, [this]() GT_REQUIRES(mutex_) { return closed_ || !keeping_.empty(); });
      watch.moved();
    }
    lock.unlock();
    std::this_thread::sleep_for(Pause);
    relieve_once(watch);
    lock.lock();
  }
}

void Inbox::relieve_once(InFlight::Watch& watch) {
  constexpr unsigned QuietLooks = 4, MostLooks = 32;
  std::deque<Kept> kept;
  bool full = false;
  {
    const MutexLock lock(mutex_);
    kept.swap(keeping_);
    full = taken_count_ == taken_.size();
    if (std::exchange(returned_before_, returned_) != returned_ || !full) watch.moved();
  }
  const uint64_t took = device_took_;
  quiet_ = std::exchange(took_before_, took) == took ? quiet_ + 1 : 0;
  const bool stands = full && quiet_ >= QuietLooks;
  std::erase_if(kept, [stands](Kept& k) { return k.job->leave_slots(stands || ++k.looks > MostLooks); });
  if (watch.is_stuck() && !kept.empty()) {
    session_->log_stuck();
    kept.front().job->give_up(CL_OUT_OF_HOST_MEMORY);
    kept.pop_front();
    watch.moved();
  }
  const MutexLock lock(mutex_);
  for (const Kept& k : keeping_)  // meanwhile
    if (std::none_of(kept.begin(), kept.end(), [&](const Kept& o) { return o.job == k.job; })) kept.push_back(k);
  keeping_.swap(kept);
}

void Inbox::give_back(std::span<const uint32_t> slots) {
  std::vector<uint32_t> free;
  {
    const MutexLock lock(mutex_);
    for (const uint32_t slot : slots) {
      if (held_[slot] != Held::No)
        held_[slot] = Held::Last;
      else
        free.push_back(slot);
    }
    free_slots(free);
  }
  if (!free.empty()) sender_.send(wire::Credit{free});
}

void Inbox::free_slots(const std::vector<uint32_t>& slots) {
  for (const uint32_t slot : slots) taken_[slot] = false;
  taken_count_ -= slots.size();
  returned_ += slots.size();
}

void Inbox::hold(uint32_t slot) {
  const MutexLock lock(mutex_);
  held_[slot] = Held::Both;
}

void Inbox::let_go(uint32_t slot) {
  {
    const MutexLock lock(mutex_);
    if (std::exchange(held_[slot], Held::No) != Held::Last) return;
    free_slots({slot});
  }
  sender_.send(wire::Credit{{slot}});
}

void Inbox::close() {
  std::map<uint32_t, std::shared_ptr<WriteJob>> jobs;
  {
    const MutexLock lock(mutex_);
    closed_ = true;
    keeping_.clear();
    needed_.notify_one();
    jobs.swap(jobs_);
    early_.clear();
  }
  for (const auto& [transfer, job] : jobs) job->give_up(CL_OUT_OF_RESOURCES);
}

}  // namespace gt::exec
