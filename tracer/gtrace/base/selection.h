// Which calls of a trace a command works on: by number, function, thread, object.
// Thread safety: constant after construction.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tracer/gtrace/base/call_set.h"
#include "traces/model/ssa/object_names.h"

namespace gt::tracer {

struct Selection {
  CallSet calls;
  std::string object;  // as it is printed: "b0", "b2[7]", "k0:vadd", "k0"; "" is any
  std::optional<model::ThreadId> thread;
  bool memory = true;  // memory calls, too
};

// Invalid: the trace has no such thread.
Result<std::optional<model::ThreadId>> find_thread(const model::Trace& trace, std::optional<uint64_t> number);

class Selector {
 public:
  // Invalid: the trace has no such object. The arguments must outlive the selector.
  static Result<Selector> make(const model::Trace& trace, const model::ObjectNames& names, const Selection& selection);

  bool stream(const model::Stream& stream) const;
  bool event(bool memory, uint64_t number, model::ShapeId shape, std::span<const int64_t> values) const {
    return everything_ || (calls(memory, number, shape) && (!object_ || names_object(shape, values)));
  }
  // Some call below `node` may be wanted; its calls are those numbered [first, last].
  bool node(const model::Node& node, bool memory, uint64_t first, uint64_t last) const;
  // No call of a larger number is wanted.
  uint64_t last(bool memory) const { return selection_->calls.last(memory); }
  bool everything() const { return everything_; }

 private:
  struct Object {
    model::ClassId cls = model::NoIndex;
    std::optional<int64_t> slot;  // nothing: every one of the class
  };
  Selector(const model::Trace& trace, const model::ObjectNames& names, const Selection& selection);
  bool calls(bool memory, uint64_t number, model::ShapeId shape) const {
    return by_name_[shape] || selection_->calls.has(memory, number);
  }
  bool names_object(model::ShapeId shape, std::span<const int64_t> values) const;
  bool may_name_object(const model::Node& node) const;
  bool any_named(const model::Node& node) const;
  static std::optional<Object> find_object(const model::ObjectNames& names, const std::string& text);

  const model::Trace* trace_;
  const model::ObjectNames* names_;
  const Selection* selection_;
  std::vector<bool> by_name_;  // by shape: its function is in the set
  std::optional<Object> object_;
  bool everything_ = false;
};

}  // namespace gt::tracer
