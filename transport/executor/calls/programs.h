// Build messages: each on a thread of its own, some at a time, with a time limit.
//
// A driver cannot be told to stop: a build that takes too long is answered, and its thread left to end when it does.
// Thread safety: start() by the control channel.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

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
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::shared_ptr<BuildJob>> waiting, running;
    std::vector<Linked> linked;
    std::atomic<bool> has_linked{false};
    uint32_t threads = 0;
    bool watched = false, closed = false;
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
