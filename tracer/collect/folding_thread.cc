#include "tracer/collect/folding_thread.h"

#include <system_error>
#include <utility>

#include "traces/base/signals_blocked.h"

namespace gt::tracer {

using model::Folder;
using model::PushedEvent;

namespace {

class Words {
 public:
  explicit Words(std::span<const int64_t> words) : words_(words) {}
  bool any() const { return !words_.empty(); }
  int64_t one() { return some(1)[0]; }
  std::span<const int64_t> some(size_t n) {
    const auto taken = words_.first(n);
    words_ = words_.subspan(n);
    return taken;
  }

 private:
  std::span<const int64_t> words_;
};

model::ShapeId shape_in(int64_t head) { return static_cast<model::ShapeId>(static_cast<uint64_t>(head) >> 32); }
size_t count_in(int64_t head) { return static_cast<uint32_t>(head); }

}  // namespace

FoldingThread::~FoldingThread() { end_thread(); }

void FoldingThread::stop() {
  finish();
  end_thread();
}

void FoldingThread::end_thread() {
  if (!runs_) return;
  {
    const MutexLock lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
  runs_ = false;
  pushed_ = 0;
  const MutexLock lock(mutex_);
  ends_ = false;
}

void FoldingThread::start() {
  const SignalsBlocked blocked;  // those of the collector come to its first thread
  filling_ = std::make_unique<Chunk>();
  try {
    thread_ = std::thread([this] { work(); });
    runs_ = true;
  } catch (const std::system_error&) {  // then it is done here
  }
}

void FoldingThread::push_again(Folder& stream, std::span<const PushedEvent> events, uint64_t times) {
  if (!runs_) return stream.push_again(events, times);
  size_t words = 3;
  for (const PushedEvent& event : events) words += 1 + event.values.size();
  int64_t* to = place_for(words);
  *to++ = reinterpret_cast<intptr_t>(&stream);
  *to++ = head(model::NoIndex, events.size());
  *to++ = static_cast<int64_t>(times);
  for (const PushedEvent& event : events) {
    *to++ = head(event.shape, event.values.size());
    for (const int64_t v : event.values) *to++ = v;
  }
}

void FoldingThread::fold(const Chunk& chunk) {
  std::vector<PushedEvent> again;
  for (Words words(std::span(chunk.words).first(chunk.used)); words.any();) {
    Folder& stream = *reinterpret_cast<Folder*>(words.one());
    const int64_t head = words.one();
    if (shape_in(head) != model::NoIndex) {
      stream.push(shape_in(head), words.some(count_in(head)));
      continue;
    }
    const auto times = static_cast<uint64_t>(words.one());
    again.clear();
    for (size_t left = count_in(head); left > 0; --left) {
      const int64_t one = words.one();
      const auto values = words.some(count_in(one));
      again.push_back({shape_in(one), {values.begin(), values.end()}});
    }
    stream.push_again(again, times);
  }
}

void FoldingThread::hand_over() {
  UniqueLock lock(mutex_);
  while (full_.size() >= MostChunks && !failed_) changed_.wait(lock);
  throw_what_failed();
  full_.push_back(std::move(filling_));
  if (spare_.empty()) spare_.push_back(std::make_unique<Chunk>());
  filling_ = std::move(spare_.back());
  spare_.pop_back();
  filling_->used = 0;
  changed_.notify_all();
}

void FoldingThread::finish() {
  if (!runs_) return;
  if (filling_->used > 0) hand_over();
  UniqueLock lock(mutex_);
  while ((!full_.empty() || folding_) && !failed_) changed_.wait(lock);
  throw_what_failed();
}

void FoldingThread::throw_what_failed() {
  if (failed_) std::rethrow_exception(failed_);
}

void FoldingThread::work() {
  UniqueLock lock(mutex_);
  for (;;) {
    while (full_.empty() && !ends_) changed_.wait(lock);
    if (full_.empty() || ends_) return;
    std::unique_ptr<Chunk> chunk = std::move(full_.front());
    full_.erase(full_.begin());
    folding_ = true;
    lock.unlock();
    std::exception_ptr failed;
    try {
      fold(*chunk);
    } catch (...) {
      failed = std::current_exception();
    }
    lock.lock();
    folding_ = false;
    failed_ = failed;
    spare_.push_back(std::move(chunk));
    changed_.notify_all();
    if (failed) return;
  }
}

}  // namespace gt::tracer
