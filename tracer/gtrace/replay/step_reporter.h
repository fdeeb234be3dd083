// One of two replays that run in step: reports each launch, and goes on when it is told to.
//
// Thread safety: any thread. One reads the answers and wakes whom they are for, so that threads of the program that
// depend on each other do.
#pragma once

#include <condition_variable>
#include <map>
#include <thread>

#include "tracer/gtrace/replay/launch_outputs.h"
#include "tracer/gtrace/replay/step_channel.h"
#include "tracer/gtrace/replay/world.h"

namespace gt::tracer {

class StepReporter : public LaunchHook {
 public:
  // Both must outlive it.
  StepReporter(ReplayWorld& world, const StepChannel& channel);
  ~StepReporter() override;

  Status made(const MadeObject& object) override;
  Status before(const Launch&) override { return {}; }
  Status after(const Launch& launch) override;
  bool done() const override { return ended_.load(); }  // nobody listens any more

 private:
  void read_answers();
  bool program_is_waited_for();
  void flush_queues();
  bool send(StepKind kind, ByteView body);

  ReplayWorld& world_;
  const StepChannel& channel_;
  LaunchOutputs outputs_;
  Mutex sending_, mutex_;  // sending_: of the channel; never held with mutex_
  std::condition_variable answered_;
  std::map<LaunchName, std::vector<StepMessage>> answers_ GT_GUARDED_BY(mutex_);
  std::vector<cl_event> user_events_ GT_GUARDED_BY(mutex_);  // that the program has not set yet; held
  std::atomic<bool> ended_{false};
  std::thread reader_;
};

}  // namespace gt::tracer
