// What a call is to a rule: a command or not, what it touches, which part of it, and where in its row of values that
// stands. One plan for each shape, made once: rules ask plans, not parameter numbers.
// Thread safety: immutable after construction. Cost: O(shapes).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "traces/api/api.h"
#include "traces/model/fold/event.h"

namespace gt::analyzer {

// What each argument of each shape does to its object: parallel to Trace::shapes and their args (effects.h).
using Effects = std::vector<std::vector<model::Effect>>;

// An object that a call names, binds or implies.
struct Touch {
  model::ClassId cls = model::NoIndex;
  model::ObjectKind kind = model::ObjectKind::Unknown;
  uint16_t param = 0;
  size_t slot_at = 0;  // of its slot in the row of values; the offset of a pointer stands behind it
  model::Effect effect = model::Effect::None;
  bool pointer = false;

  bool implied() const { return param == model::ParamImplied; }
  bool made() const { return effect == model::Effect::Def; }
  bool data() const { return kind == model::ObjectKind::Buffer || kind == model::ObjectKind::Image; }
};

constexpr size_t NoValue = static_cast<size_t>(-1);

struct CallPlan {
  model::ShapeId shape = model::NoIndex;
  const api::FnInfo* fn = nullptr;
  model::Direction moves = model::Direction::None;
  bool command = false;      // goes into a queue
  bool waits = false;        // ends only when commands have, whatever its values
  bool asks_events = false;  // a query of an event: what it tells depends on waiting
  bool calls_back = false;   // registers a function of the program
  std::vector<Touch> touches;
  size_t queue = NoValue;  // index into touches
  size_t blocking_at = NoValue, size_at = NoValue, offset_at = NoValue, content_at = NoValue, result_at = NoValue;
  std::vector<size_t> part_at;  // numbers that say which part of the object is meant, where it is no offset and size
  std::vector<bool> matters;    // of each value: do rules look at it?

  bool launch() const { return fn->attributes.launch && !fn->attributes.records; }
  bool host_transfer() const {
    return moves == model::Direction::HostToDevice || moves == model::Direction::DeviceToHost;
  }
  bool creates_memory() const { return fn->attributes.direction == api::DirectionRule::Create; }
  bool maps() const { return fn->attributes.direction == api::DirectionRule::Map; }
  bool unmaps() const { return fn->attributes.direction == api::DirectionRule::Unmap; }
  bool blocks(std::span<const int64_t> values) const;  // by its blocking argument
  bool failed(std::span<const int64_t> values) const;
  const Touch* target() const;  // the buffer or image that a transfer is about; nullptr when there is none
  const Touch* host() const;    // the host memory of a transfer; nullptr when there is none
};

class CallPlans {
 public:
  // REQUIRES: a checked trace; effects parallel to its shapes. Both outlive this object.
  CallPlans(const model::Trace& trace, const Effects& effects);

  const CallPlan& operator[](model::ShapeId shape) const { return plans_[shape]; }
  size_t size() const { return plans_.size(); }
  auto begin() const { return plans_.begin(); }
  auto end() const { return plans_.end(); }

  // May objects of this class be followed from call to call? Not those that several threads use (the order of their
  // calls is not known), nor memory that is shared with other objects, the host, or other programming interfaces.
  bool followed(model::ClassId cls) const { return followed_[cls]; }

 private:
  void mark_followed(const model::Trace& trace);
  std::vector<CallPlan> plans_;
  std::vector<bool> followed_;
};

bool is_host_memory(model::ObjectKind kind);

}  // namespace gt::analyzer
