#include "transport/executor/transfer/stream_write.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <thread>


namespace gt::exec {

class ChunkTaken final : public Then {
 public:
  ChunkTaken(std::shared_ptr<WriteJob> job, Arrived chunk) : x_job(std::move(job)), x_chunk(std::move(chunk)) {}
  void over(cl_int status, News&) override { x_job->taken(std::move(x_chunk), status); }

 private:
  std::shared_ptr<WriteJob> x_job;
  Arrived x_chunk;
};

// Slots are given back when the lock is released: who hears of it may send the next chunk from the same thread.
class WriteJob::Work {
 public:
  explicit Work(WriteJob& job) : x_job(job), x_lock(job.x_mutex) {}
  ~Work() {
    x_job.end_if_done();
    const std::vector<uint32_t> free = std::move(x_job.x_free);
    x_job.x_free.clear();
    x_lock.unlock();
    x_job.x_inbox->give_back(free);
  }

 private:
  WriteJob& x_job;
  std::unique_lock<std::mutex> x_lock;
};

WriteJob::Arrival WriteJob::arrive(Arrived chunk) {
  const Work work(*this);
  const bool fits = x_error ? chunk.bytes <= x_left : x_left > 0 && chunk.bytes == x_chunks->at(x_arrived).bytes;
  if (!fits) return Arrival::Wrong;
  ++x_arrived;
  x_left -= chunk.bytes;
  const Arrival arrival = x_left > 0 ? Arrival::More : Arrival::Last;
  if (x_begun || x_error) {
    start(std::move(chunk));
  } else {
    x_waiting.push_back(std::move(chunk));
    const bool kept = !x_inbox->is_short() || x_inbox->keep(x_inbox, shared_from_this());
    if (!kept && !move(x_waiting.back())) refuse(CL_OUT_OF_RESOURCES);
  }
  return arrival;
}

bool WriteJob::leave_slots(bool move_them) {
  const Work work(*this);
  return std::all_of(x_waiting.begin(), x_waiting.end(),
                     [&](Arrived& chunk) { return chunk.moved || (move_them && move(chunk)); });
}

void WriteJob::begin(cl_int error) {
  const Work work(*this);
  x_begun = true;
  if (x_error == CL_SUCCESS) x_error = error;
  for (; !x_waiting.empty(); x_waiting.pop_front()) start(std::move(x_waiting.front()));
}

void WriteJob::give_up(cl_int error) {
  const Work work(*this);
  if (x_left > 0 || !x_waiting.empty()) refuse(error);
}

// With the lock held, as are the following.
void WriteJob::refuse(cl_int error) {
  if (x_error == CL_SUCCESS) x_error = error;
  for (; !x_waiting.empty(); x_waiting.pop_front()) drop(x_waiting.front());
}

void WriteJob::start(Arrived chunk) {
  const uint64_t index = x_started++;
  if (x_error) return drop(chunk);
  const Cl& cl = x_inbox->session().cl;
  void* const memory = chunk.moved ? chunk.moved.get() : x_inbox->memory(chunk.slot);
  const std::lock_guard enqueue(x_queue->enqueue);
  Awaited awaited;
  x_error = enqueue_part(x_inbox->session(), Way::ToDevice, *x_queue, x_memory, x_chunks->at(index).part, memory, {},
                         &awaited.event);
  if (x_error) return drop(chunk);
  cl.clFlush(x_queue->handle);
  ++x_under_way;
  awaited.queue = x_queue;
  awaited.order = ++x_queue->order;
  awaited.then = std::make_unique<ChunkTaken>(shared_from_this(), std::move(chunk));
  x_inbox->event_waiter().await(std::move(awaited));
}

void WriteJob::drop(Arrived& chunk) {
  if (!chunk.moved) return x_free.push_back(chunk.slot);
  chunk.moved.reset();
  x_inbox->session().in_flight.let_go(chunk.bytes);
}

// From its slot to ordinary memory. False: there is none, or the client has as much of it as it may have.
bool WriteJob::move(Arrived& chunk) {
  InFlight& in_flight = x_inbox->session().in_flight;
  if (!in_flight.try_hold(chunk.bytes)) return false;
  chunk.moved.reset(new (std::nothrow) uint8_t[chunk.bytes]);
  if (!chunk.moved) return in_flight.let_go(chunk.bytes), false;
  std::memcpy(chunk.moved.get(), x_inbox->memory(chunk.slot), chunk.bytes);
  x_free.push_back(chunk.slot);
  return true;
}

void WriteJob::taken(Arrived chunk, cl_int status) {
  const Work work(*this);
  --x_under_way;
  x_inbox->device_took_one();
  if (status < 0 && x_error == CL_SUCCESS) x_error = status;
  drop(chunk);
}

void WriteJob::end_if_done() {
  const bool done = x_error || (x_left == 0 && x_started == x_arrived);
  if (x_ended || !done || x_under_way > 0) return;
  x_ended = true;
  const Cl& cl = x_inbox->session().cl;
  x_placeholder.finish(cl, x_error);
  x_memory.release(cl);
}

Status Inbox::open(wire::Link& link) {
  const uint32_t slots = x_session->options.inbox_slots;
  if (slots == 0) return {};
  const Result<wire::SegmentId> segment = link.allocate(slots * slot_bytes(), &x_base);
  if (!segment.ok()) return segment.status();
  x_segment = *segment;
  x_taken.resize(slots);
  return {};
}

bool Inbox::add(uint32_t transfer, const std::shared_ptr<WriteJob>& job) {
  auto arrival = WriteJob::Arrival::More;
  for (;;) {
    std::vector<Arrived> early;
    {
      const std::lock_guard lock(x_mutex);
      if (x_jobs.contains(transfer) || x_closed) return false;
      if (const auto it = x_early.find(transfer); it != x_early.end()) {
        early = std::move(it->second);
        x_early.erase(it);
      } else if (arrival == WriteJob::Arrival::More) {  // what comes from now on goes to the job itself
        x_jobs.emplace(transfer, job);
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
    const std::lock_guard lock(x_mutex);
    if (chunk.slot >= x_taken.size() || x_taken[chunk.slot] || bytes == 0 || bytes > slot_bytes()) return false;
    x_taken[chunk.slot] = true;
    ++x_taken_count;
    const auto it = x_jobs.find(transfer);
    if (it == x_jobs.end()) {
      x_early[transfer].push_back(std::move(chunk));
      return true;
    }
    job = it->second;
  }
  const WriteJob::Arrival arrival = job->arrive(std::move(chunk));
  if (arrival == WriteJob::Arrival::Last) {
    const std::lock_guard lock(x_mutex);
    x_jobs.erase(transfer);
  }
  return arrival != WriteJob::Arrival::Wrong;
}

bool Inbox::is_short() {
  const std::lock_guard lock(x_mutex);
  return x_taken_count * 2 > x_taken.size();
}

bool Inbox::keep(const std::shared_ptr<Inbox>& self, const std::shared_ptr<WriteJob>& job) {
  constexpr size_t StackBytes = size_t{512} << 10;
  const std::lock_guard lock(x_mutex);
  if (!x_relieving && !x_closed)
    x_relieving = x_session->threads.start("gtrace-slots", StackBytes, [self] { self->relieve(); });
  const bool known = std::any_of(x_keeping.begin(), x_keeping.end(), [&](const Kept& k) { return k.job == job; });
  if (!x_relieving || known) return x_relieving;
  x_keeping.push_back({job});
  if (x_keeping.size() == 1) x_needed.notify_one();
  return true;
}

void Inbox::relieve() {
  constexpr std::chrono::milliseconds Pause{1};
  InFlight::Watch watch(x_session->in_flight);
  std::unique_lock lock(x_mutex);
  while (!x_closed) {
    if (x_keeping.empty()) {
      x_needed.wait(lock, [this] { return x_closed || !x_keeping.empty(); });
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
    const std::lock_guard lock(x_mutex);
    kept.swap(x_keeping);
    full = x_taken_count == x_taken.size();
    if (std::exchange(x_returned_before, x_returned) != x_returned || !full) watch.moved();
  }
  const uint64_t took = x_device_took;
  x_quiet = std::exchange(x_took_before, took) == took ? x_quiet + 1 : 0;
  const bool stands = full && x_quiet >= QuietLooks;
  std::erase_if(kept, [stands](Kept& k) { return k.job->leave_slots(stands || ++k.looks > MostLooks); });
  if (watch.is_stuck() && !kept.empty()) {
    x_session->log_stuck();
    kept.front().job->give_up(CL_OUT_OF_HOST_MEMORY);
    kept.pop_front();
    watch.moved();
  }
  const std::lock_guard lock(x_mutex);
  for (const Kept& k : x_keeping)  // meanwhile
    if (std::none_of(kept.begin(), kept.end(), [&](const Kept& o) { return o.job == k.job; })) kept.push_back(k);
  x_keeping.swap(kept);
}

void Inbox::give_back(std::span<const uint32_t> slots) {
  if (slots.empty()) return;
  {
    const std::lock_guard lock(x_mutex);
    for (const uint32_t slot : slots) x_taken[slot] = false;
    x_taken_count -= slots.size();
    x_returned += slots.size();
  }
  x_sender.send(wire::Credit{{slots.begin(), slots.end()}});
}

void Inbox::close() {
  std::map<uint32_t, std::shared_ptr<WriteJob>> jobs;
  {
    const std::lock_guard lock(x_mutex);
    x_closed = true;
    x_keeping.clear();
    x_needed.notify_one();
    jobs.swap(x_jobs);
    x_early.clear();
  }
  for (const auto& [transfer, job] : jobs) job->give_up(CL_OUT_OF_RESOURCES);
}

}  // namespace gt::exec
