// Build messages: each on a thread of its own, some at a time, with a time limit.
//
// A driver cannot be told to stop: a build that takes too long is answered, and its thread left to end when it does.
// Thread safety: run() and name_linked() by the control channel; neither waits for a build. What is refused is answered
// by Built, too.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <vector>

#include "traces/base/mutex.h"
#include "transport/executor/base/commands.h"
#include "transport/executor/calls/building.h"

namespace gt::exec {

class Programs {
 public:
  explicit Programs(Commands& commands);
  ~Programs();

  void run(wire::Build build);
  // Programs that were linked since get their names.
  void name_linked();

 private:
  struct Linked {
    ObjectId id;
    cl_program program;
  };
  // What threads share, beyond the life of this object.
  struct Work {
    explicit Work(std::shared_ptr<Session> s) : session(std::move(s)) {}
    std::shared_ptr<Session> session;
    Mutex mutex;
    std::condition_variable changed;
    std::deque<std::shared_ptr<BuildJob>> waiting GT_GUARDED_BY(mutex), running GT_GUARDED_BY(mutex);
    std::vector<Linked> linked GT_GUARDED_BY(mutex);
    std::atomic<bool> has_linked{false};
    uint32_t threads GT_GUARDED_BY(mutex) = 0;
    bool watched GT_GUARDED_BY(mutex) = false, closed GT_GUARDED_BY(mutex) = false;
  };

  cl_int collect(BuildJob& job);
  bool post(const std::shared_ptr<BuildJob>& job);
  static void serve(const std::shared_ptr<Work>& work);
  static void watch(const std::shared_ptr<Work>& work);
  static void perform(Work& work, BuildJob& job);

  Commands& commands_;
  std::shared_ptr<Work> work_;
};

}  // namespace gt::exec
