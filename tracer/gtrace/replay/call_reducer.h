// Fewer calls of which something stays true: delta debugging over a CallGraph.
//
//   what the target needs alone; objects with all that uses them; iterations of loops; single calls
//
// Of each kind first halves, then quarters and so on down to one are left out, the last ones first, as long as
// something goes. Then no single call can be left out (unless the bounds came first).
// A. Zeller and R. Hildebrandt, "Simplifying and isolating failure-inducing input", 2002.
// Thread safety: none.
#pragma once

#include <functional>

#include "tracer/gtrace/replay/call_graph.h"

namespace gt::tracer {

class CallReducer {
 public:
  // `holds`: is it still true of these calls? `goes_on`: false when it has taken too long.
  using Holds = std::function<bool(const CallSet&)>;
  CallReducer(const CallGraph& graph, Holds holds, std::function<bool()> goes_on)
      : graph_(graph), holds_(std::move(holds)), goes_on_(std::move(goes_on)), kept_(graph.size(), true) {}

  // REQUIRES: it is true of all calls. `target`: a call without which it is not true, if one is known; `near`: one at
  // which it showed, so that later calls and those that it does not need are probably for nothing.
  void reduce(std::optional<CallIndex> target, std::optional<CallIndex> near);

  const CallSet& kept() const { return kept_; }

 private:
  using Unit = std::vector<CallIndex>;
  bool accept(CallSet set);
  void minimize(std::vector<Unit> units);
  void drop_useless(std::vector<Unit>& units) const;
  std::vector<Unit> objects() const;
  std::vector<Unit> singles() const;

  const CallGraph& graph_;
  Holds holds_;
  std::function<bool()> goes_on_;
  std::optional<CallIndex> target_;
  CallSet kept_;
};

}  // namespace gt::tracer
