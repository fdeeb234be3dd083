// The calls of one recorded process, and which of them need which: the def/use graph of its SSA form, call by call.
//
//   makers    calls that made an object which this one uses: without them it cannot be made
//   sources   calls that wrote what it uses last: without them it does something else
//
// Calls are numbered from 0, in the order of their recorded times, else thread by thread. Memory: some 100 bytes each.
// Thread safety: constant.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "traces/base/status.h"
#include "traces/model/fold/event.h"

namespace gt::tracer {

using CallIndex = uint32_t;

struct GraphCall {
  model::ThreadId thread = 0;
  uint64_t number = 0;  // in its thread, from 1
};

// Which calls are made: by index.
using CallSet = std::vector<bool>;
size_t count_of(const CallSet& set);

class CallGraph {
 public:
  // Corrupt: the trace does not unfold. Unsupported: it has too many calls.
  static Result<CallGraph> build(const model::Trace& trace, uint32_t process);

  size_t size() const { return calls_.size(); }
  const GraphCall& call(CallIndex i) const { return calls_[i]; }
  std::optional<CallIndex> find(model::ThreadId thread, uint64_t number) const;

  std::span<const CallIndex> makers(CallIndex i) const { return makers_.of(i); }
  std::span<const CallIndex> sources(CallIndex i) const { return sources_.of(i); }
  bool makes_object(CallIndex i) const { return makes_[i]; }
  // Iterations of loops at the top of a thread: [first, last) of its calls. Calls are not next to each other where
  // several threads make them.
  const std::vector<std::vector<CallIndex>>& iterations() const { return iterations_; }

  // All that `target` needs, and itself.
  CallSet needed_by(CallIndex target) const;
  // `set` without these, and without what cannot be made then.
  CallSet without(const CallSet& set, std::span<const CallIndex> dropped) const;

 private:
  class Builder;
  struct Edges {
    std::vector<uint64_t> begin{0};
    std::vector<CallIndex> to;
    std::span<const CallIndex> of(CallIndex i) const { return {to.data() + begin[i], to.data() + begin[i + 1]}; }
  };

  std::vector<GraphCall> calls_;
  Edges makers_, sources_;
  std::vector<bool> makes_;
  std::vector<std::vector<CallIndex>> iterations_;
  std::vector<std::vector<CallIndex>> by_number_;  // by thread: call of each number
};

}  // namespace gt::tracer
