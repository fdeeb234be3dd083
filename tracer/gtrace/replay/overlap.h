// Blocking reads and writes that do not block, as long as nothing needs what they move: what a program could gain.
//
//   write   goes on while the host's memory keeps this version (the same content), and while what follows is in the
//           same in-order queue, or makes objects, or sets arguments of kernels
//   read    goes on while only other reads, queries and releases follow: the host has not used what it brings
//
// All else waits first. The assumption is that the program changes memory not before it sends it again.
// Thread safety: one object per thread. Commands of other threads are not looked at: it is for programs of one.
#pragma once

#include <functional>
#include <vector>

#include "tracer/gtrace/replay/host_memory.h"
#include "tracer/gtrace/replay/opencl_library.h"
#include "tracer/gtrace/replay/shape_plan.h"

namespace gt::tracer {

class Overlap {
 public:
  explicit Overlap(const OpenClLibrary& cl) : cl_(cl) {}

  // Does the call block, and could it do without? `queue`: its own.
  bool may_go_on(const ShapePlan& plan, uint64_t queue) const;
  // Before a call: waits for what it may need.
  void before(const ShapePlan& plan, uint64_t queue, bool is_event_query);
  // Before the memory of a place is written: by the program, or by a read.
  void before_change(const HostPlace& place, size_t bytes);
  // The transfer is under way. `event` is given back here. `look`: at what it brought; empty: it is a write.
  struct Moving {
    uint64_t queue = 0, event = 0;
    HostPlace place;
    size_t bytes = 0;
    std::function<void()> look;
  };
  void add(Moving moving) { moving_.push_back(std::move(moving)); }
  void wait();

 private:
  bool reads_under_way() const;

  const OpenClLibrary& cl_;
  std::vector<Moving> moving_;
};

}  // namespace gt::tracer
