// What commands took on their devices.
//
// Timestamps arrive after their calls and are paired with them here. When commands of a shape are sampled, a timed one
// stands for itself and for those skipped since the last timed one: it is added with that weight, so sums and counts
// estimate what timing every command would have given. Shapes of which no command was timed stay untimed.
//
// Busy times are unions of intervals, so that overlapping commands of several queues are not counted twice; sampled
// ones are scaled by the weights' share. Exact when all commands are timed; when sampled, overlap is a lower bound.
// They are kept for each device, each queue, and each context on a device. The steady state is the same without the
// first timed command of each shape: without set-up and warm-up, and without what runs only once.
// Cost: two times three unions for each timed command and scope (interval_union.h). Thread safety: none.
#pragma once

#include <unordered_map>
#include <vector>

#include "tracer/collect/interval_union.h"
#include "traces/model/fold/event.h"

namespace gt::tracer {

class CommandTimes {
 public:
  struct Command {
    model::ShapeId shape = 0;
    uint32_t device = 0;
    bool launch = false;
    model::Direction direction = model::Direction::None;
    uint32_t queue = model::NoIndex, context = model::NoIndex;  // objects (timed_objects.h)
  };

  // A command whose times will come under `key`, and one that has none.
  void expect(uint64_t key, const Command& command);
  void skip(const Command& command) { skip(command, 1); }
  // Commands that no shape stands for: those inside of a command buffer.
  void leave_untimed(const Command& where, uint64_t kernels, uint64_t transfers);
  // The times of the command expected under `key`; unknown keys are ignored. start == end == 0: the driver has none.
  // False: nothing could be learnt from them.
  bool take(uint64_t key, uint64_t start, uint64_t end, std::vector<model::ShapeStats>& stats);

  // Adds what is not in the sums yet: in `stats` (the collector's, or a copy of them) what timed commands stand for,
  // in the times the devices' and objects'.
  void complete(std::vector<model::ShapeStats>& stats) const;
  struct Times {
    std::vector<model::DeviceTime> devices, objects;  // by index; without names; those without commands may be missing
  };
  Times times(const std::vector<model::ShapeStats>& stats) const;

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
  struct Both {  // kernels and transfers, and when there was either
    Busy kernel, transfer;
    IntervalUnion either;
    void add(const Command& command, uint64_t start, uint64_t end, uint64_t weight);
    uint64_t overlap() const;
  };
  struct Scope {  // a device or an object
    Both all, steady;
    Busy h2d, d2h;
    model::DeviceTime counts;                                       // only these of it
    uint64_t more_kernel_ns = 0, more_h2d_ns = 0, more_d2h_ns = 0;  // of commands that nothing stands for yet

    void add(const Command& command, uint64_t start, uint64_t end, uint64_t weight, bool first);
    void leave_over(const Command& command, uint64_t skipped, const model::Stats& time);
    model::DeviceTime time() const;
  };

  void skip(const Command& command, uint64_t weight);
  static Scope& scope(std::vector<Scope>& scopes, uint32_t index);
  template <class Visit>
  void for_scopes(const Command& command, const Visit& visit);
  std::vector<Sample> left_over() const;  // by shape: commands that nothing stands for yet

  std::unordered_map<uint64_t, Pending> pending_;  // by key
  std::vector<Sample> samples_;                    // by shape
  std::vector<Scope> devices_, objects_;
};

}  // namespace gt::tracer
