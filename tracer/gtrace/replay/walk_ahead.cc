#include "tracer/gtrace/replay/walk_ahead.h"

#include <array>
#include <condition_variable>
#include <thread>
#include <vector>

#include "traces/base/mutex.h"

namespace gt::tracer {
namespace {

struct Batch {
  static constexpr size_t Events = 512;
  std::vector<WalkedEvent> events;  // without their values
  std::vector<size_t> ends;         // of their values
  std::vector<int64_t> values;

  void clear() {
    events.clear();
    ends.clear();
    values.clear();
  }
  void add(const WalkedEvent& e) {
    events.push_back(e);
    values.insert(values.end(), e.values.begin(), e.values.end());
    ends.push_back(values.size());
  }
  bool full() const { return events.size() >= Events; }
};

// Batches from the thread that reads to the one that makes calls.
class Batches {
 public:
  // Of the thread that reads: the one to be filled; nullptr: nobody wants any more.
  Batch* to_fill() {
    UniqueLock lock(mutex_);
    while (filled_ - taken_ == ring_.size() && !stopped_) changed_.wait(lock);
    return stopped_ ? nullptr : &ring_[filled_ % ring_.size()];
  }
  void filled() {
    const MutexLock lock(mutex_);
    ++filled_;
    changed_.notify_one();
  }
  void end() {
    const MutexLock lock(mutex_);
    ended_ = true;
    changed_.notify_one();
  }

  // Of the other one: the next; nullptr: there are no more.
  Batch* next() {
    UniqueLock lock(mutex_);
    while (filled_ == taken_ && !ended_) changed_.wait(lock);
    return filled_ == taken_ ? nullptr : &ring_[taken_ % ring_.size()];
  }
  void taken() {
    const MutexLock lock(mutex_);
    ++taken_;
    changed_.notify_one();
  }
  void stop() {
    const MutexLock lock(mutex_);
    stopped_ = true;
    changed_.notify_one();
  }

 private:
  Mutex mutex_;
  std::condition_variable changed_;  // one thread waits at a time
  std::array<Batch, 4> ring_;
  uint64_t filled_ GT_GUARDED_BY(mutex_) = 0, taken_ GT_GUARDED_BY(mutex_) = 0;
  bool ended_ GT_GUARDED_BY(mutex_) = false, stopped_ GT_GUARDED_BY(mutex_) = false;
};

Status read(const model::Trace& trace, const model::Stream& stream, const Walk& walk, Batches& batches) {
  Batch* batch = nullptr;
  Walk reading;
  reading.wanted = walk.wanted;
  reading.visit = [&](const WalkedEvent& e) {
    if (!batch) {
      batch = batches.to_fill();
      if (!batch) return false;
      batch->clear();
    }
    batch->add(e);
    if (batch->full()) {
      batches.filled();
      batch = nullptr;
    }
    return true;
  };
  const Status walked = walk_stream(trace, stream, reading);
  if (batch) batches.filled();
  batches.end();
  return walked;
}

bool visit(const Batch& batch, const Walk& walk) {
  size_t begin = 0;
  for (size_t i = 0; i < batch.events.size(); ++i) {
    WalkedEvent e = batch.events[i];
    e.values = {batch.values.data() + begin, batch.ends[i] - begin};
    begin = batch.ends[i];
    if (!walk.visit(e)) return false;
  }
  return true;
}

}  // namespace

Status walk_ahead(const model::Trace& trace, const model::Stream& stream, const Walk& walk) {
  Batches batches;
  Status outcome;
  std::thread reader([&] { outcome = read(trace, stream, walk, batches); });
  while (const Batch* const batch = batches.next()) {
    if (!visit(*batch, walk)) {
      batches.stop();
      break;
    }
    batches.taken();
  }
  reader.join();
  return outcome;
}

}  // namespace gt::tracer
