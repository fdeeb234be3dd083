// Lines of text from one thread to another, in chunks, a bounded number of them.
//
// The memory calls of a thread are unfolded on a second thread of ours, while the first unfolds the
// OpenCL calls and takes as many lines as stand before each. Thread safety: one writer, one reader.
#pragma once

#include <condition_variable>
#include <deque>
#include <string>
#include <vector>

#include "traces/base/mutex.h"

namespace gt::tracer {

class LineQueue {
 public:
  // Writer: one line, with its end; nothing for a call that is not shown. False when the reader has stopped.
  template <class Append>
  bool add(const Append& append_line) {
    append_line(filling_.text);
    filling_.ends.push_back(filling_.text.size());
    const bool full = filling_.text.size() >= ChunkBytes || filling_.ends.size() >= ChunkLines;
    return !full || hand_over();
  }
  void finish() {
    hand_over();
    const MutexLock lock(mutex_);
    finished_ = true;
    changed_.notify_all();
  }

  // Reader: moves up to `count` lines to `write(std::string_view)`; fewer only at the end.
  template <class Write>
  void take(uint64_t count, const Write& write) {
    while (count > 0 && (next_ < current_.ends.size() || next_chunk())) {
      const size_t n = static_cast<size_t>(std::min<uint64_t>(count, current_.ends.size() - next_));
      const size_t begin = next_ == 0 ? 0 : current_.ends[next_ - 1],
                   end = current_.ends[next_ + n - 1];
      write(std::string_view(current_.text).substr(begin, end - begin));
      next_ += n;
      count -= n;
    }
  }
  void stop() {
    const MutexLock lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

 private:
  static constexpr size_t ChunkBytes = 1 << 18, ChunkLines = 1 << 16, MaxChunks = 4;
  struct Chunk {
    std::string text;
    std::vector<size_t> ends;
  };

  bool hand_over() {
    UniqueLock lock(mutex_);
    changed_.wait(lock, [this]() GT_REQUIRES(mutex_) { return stopped_ || chunks_.size() < MaxChunks; });
    if (!filling_.ends.empty()) chunks_.push_back(std::move(filling_));
    filling_ = {};
    changed_.notify_all();
    return !stopped_;
  }
  bool next_chunk() {
    UniqueLock lock(mutex_);
    changed_.wait(lock, [this]() GT_REQUIRES(mutex_) { return finished_ || !chunks_.empty(); });
    if (chunks_.empty()) return false;
    current_ = std::move(chunks_.front());
    chunks_.pop_front();
    next_ = 0;
    changed_.notify_all();
    return true;
  }

  Chunk filling_;  // writer's
  Chunk current_;  // reader's
  size_t next_ = 0;
  Mutex mutex_;
  std::condition_variable changed_;
  std::deque<Chunk> chunks_ GT_GUARDED_BY(mutex_);
  bool finished_ GT_GUARDED_BY(mutex_) = false, stopped_ GT_GUARDED_BY(mutex_) = false;
};

}  // namespace gt::tracer
