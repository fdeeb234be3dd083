// Folds the memory calls of all threads beside the collector's own work, where a processor is left for that.
//
// Naming a call and folding it cost about the same, and neither needs the other's result: in two threads an irregular
// stream is taken nearly twice as fast. The events of a stream come to it in their order, so the trace is the same.
// With fewer than three processors it would take one from the program, and folds where it is called until there is no
// program any more.
// Thread safety: one thread calls it. The streams are its own from push() to the next finish().
// Errors: what folding throws (no memory) comes out of the next call. Cost: a few words for each event; 4 MiB at most.
#pragma once

#include <array>
#include <condition_variable>
#include <exception>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "traces/base/mutex.h"
#include "traces/base/processors.h"
#include "traces/model/fold/fold.h"

namespace gt::tracer {

class FoldingThread {
 public:
  explicit FoldingThread(unsigned processors = usable_processors())
      : processors_(processors), wanted_(processors >= 3) {}
  ~FoldingThread();
  FoldingThread(const FoldingThread&) = delete;
  FoldingThread& operator=(const FoldingThread&) = delete;

  // Nobody records any more: the program's processor is free.
  void program_ended() { wanted_ = processors_ >= 2; }

  // As Folder::push() and push_again(). The stream must live until finish().
  void push(model::Folder& stream, model::ShapeId shape, std::span<const int64_t> values) {
    if (!runs_) {
      stream.push(shape, values);
      if (wanted_ && ++pushed_ == Few) start();
      return;
    }
    int64_t* to = place_for(2 + values.size());
    *to++ = reinterpret_cast<intptr_t>(&stream);
    *to++ = head(shape, values.size());
    for (const int64_t v : values) *to++ = v;
  }
  void push_again(model::Folder& stream, std::span<const model::PushedEvent> events, uint64_t times);

  // Everything that was pushed is folded when it returns.
  void finish();
  // The same, and the thread is gone, until as many events have come again as made it start: before a fork.
  void stop();

 private:
  static constexpr uint64_t Few = 1 << 16;  // events; a program that has no more needs no thread
  static constexpr size_t MostChunks = 16;
  struct Chunk {
    std::array<int64_t, (256 << 10) / sizeof(int64_t)> words;
    size_t used = 0;
  };

  // An event: its stream, head(), its values. Events that come again: their stream, head(NoIndex, how many), how many
  // times, and of each head() and values.
  static int64_t head(model::ShapeId shape, size_t values) {
    return static_cast<int64_t>(uint64_t{shape} << 32 | values);
  }
  int64_t* place_for(size_t words) {
    if (filling_->used + words > filling_->words.size()) hand_over();
    int64_t* const to = filling_->words.data() + filling_->used;
    filling_->used += words;
    return to;
  }
  void start();
  void end_thread();
  void hand_over();
  void work();
  static void fold(const Chunk& chunk);
  void throw_what_failed() GT_REQUIRES(mutex_);

  const unsigned processors_;
  bool wanted_;
  bool runs_ = false;
  uint64_t pushed_ = 0;
  std::unique_ptr<Chunk> filling_;
  std::thread thread_;

  Mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Chunk>> full_ GT_GUARDED_BY(mutex_);  // in their order
  std::vector<std::unique_ptr<Chunk>> spare_ GT_GUARDED_BY(mutex_);
  bool folding_ GT_GUARDED_BY(mutex_) = false, ends_ GT_GUARDED_BY(mutex_) = false;
  std::exception_ptr failed_ GT_GUARDED_BY(mutex_);
};

}  // namespace gt::tracer
