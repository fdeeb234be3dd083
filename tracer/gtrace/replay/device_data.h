// What the devices of the recording held before a call, put into the objects of the replay; and what a launch wrote,
// compared with what it wrote then (ParamBefore, ParamAfter).
// Thread safety: one object per thread.
#pragma once

#include <memory>
#include <span>

#include "tracer/gtrace/replay/call_encoder.h"
#include "tracer/gtrace/replay/data.h"
#include "tracer/gtrace/replay/device_memory.h"
#include "traces/model/ssa/object_names.h"

namespace gt::tracer {

// A recorded call that is made again.
struct ReplayedCall {
  const model::Shape& shape;
  const ShapePlan& plan;
  std::span<const int64_t> values;
  uint64_t number = 0;
  model::ShapeId id = 0;
  uint64_t queue = 0, kernel = 0;  // handles; 0: none
};

class DeviceData {
 public:
  DeviceData(ReplayWorld& world, const CallEncoder& encoder)
      : world_(world), encoder_(encoder), memory_(world.cl), data_(world) {}

  // Before the call is made, whose queue gets commands and is waited for.
  void restore(const ReplayedCall& call);
  // Does the call work on something that could not be restored? REQUIRES: restore(), if there is something to restore.
  bool works_on_unknown(const ReplayedCall& call);
  // When `event`, which is the call's, is over. It is released. 0: the call has failed. `unknown`: nothing is compared.
  void compare(const ReplayedCall& call, uint64_t event, bool unknown);

 private:
  struct Held {
    uint64_t value = 0;  // a handle, or an address; 0: there is none here
    bool memory = false, usm = false;
    int64_t content = -1;
  };
  Held held(const ReplayedCall& call, uint16_t arg) const;
  Status read(const ReplayedCall& call, const Held& held, Bytes& out) const;
  Status write(const ReplayedCall& call, const Held& held, ByteView bytes) const;
  void wait_as(const ReplayedCall& call) const;
  uint64_t whole_of(uint64_t object) const;
  std::string name_of(const ReplayedCall& call, uint16_t arg, const Held& held);

  ReplayWorld& world_;
  const CallEncoder& encoder_;
  DeviceMemory memory_;
  ReplayedData data_;
  Bytes bytes_;
  std::unique_ptr<model::ObjectNames> names_;  // made when results are first compared
};

}  // namespace gt::tracer
