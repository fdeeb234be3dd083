// What commands took on their devices.
//
// Timestamps arrive after their calls and are paired with them here. When commands of a shape are sampled, a timed one
// stands for itself and for those skipped since the last timed one: it is added with that weight, so sums and counts
// estimate what timing every command would have given. Shapes of which no command was timed stay untimed.
//
// Busy times are unions of intervals, so that overlapping commands of several queues are not counted twice; sampled
// ones are scaled by the weights' share. Exact when all commands are timed; when sampled, overlap is a lower bound.
// Thread safety: none.
#pragma once

#include <unordered_map>
#include <vector>

#include "tracer/collect/interval_union.h"
#include "traces/model/event.h"

namespace gt::tracer {

class CommandTimes {
 public:
  struct Command {
    model::ShapeId shape = 0;
    uint32_t device = 0;
    bool launch = false;
    model::Direction direction = model::Direction::None;
  };

  // A command whose times will come under `key`, and one that has none.
  void expect(uint64_t key, const Command& command);
  void skip(const Command& command) { skip(command, 1); }
  // Commands that no shape stands for: those inside of a command buffer.
  void leave_untimed(uint32_t device, uint64_t kernels, uint64_t transfers);
  // The times of the command expected under `key`; unknown keys are ignored. start == end == 0: the driver has none.
  // False: nothing could be learnt from them.
  bool take(uint64_t key, uint64_t start, uint64_t end, std::vector<model::ShapeStats>& stats);

  // Adds what is not in the sums yet: in `stats` (the collector's, or a copy of them) what timed commands stand for,
  // in `time` the device's.
  void complete(std::vector<model::ShapeStats>& stats) const;
  model::DeviceTime of_device(uint32_t device, const std::vector<model::ShapeStats>& stats) const;

 private:
  struct Pending {
    Command command;
    uint64_t weight;
  };
  struct Sample {  // of a shape
    Command last;
    uint64_t skipped = 0;
  };
  struct Busy {
    IntervalUnion intervals;
    uint64_t timed_ns = 0, weighted_ns = 0;
    void add(uint64_t start, uint64_t end, uint64_t weight);
    uint64_t length(uint64_t more_ns) const;
  };
  struct Device {
    Busy kernel, transfer, h2d, d2h;
    IntervalUnion either;
    uint64_t kernels = 0, transfers = 0, estimated_kernels = 0, estimated_transfers = 0;
    uint64_t untimed_kernels = 0, untimed_transfers = 0;
  };

  void skip(const Command& command, uint64_t weight);
  Device& device(uint32_t index);
  std::vector<Sample> left_over() const;  // by shape: commands that nothing stands for yet

  std::unordered_map<uint64_t, Pending> pending_;  // by key
  std::vector<Sample> samples_;                    // by shape
  std::vector<Device> devices_;
};

}  // namespace gt::tracer
