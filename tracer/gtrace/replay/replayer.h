// Makes recorded calls again, one after the other, for one thread of the recording.
//
//   shape, values ── CallEncoder ──> encoded inputs ── api::invoke ──> the driver
//                                                          └── outputs: the new objects get the recorded names
//
// What a transfer sends comes from the recording's contents, where they were kept; else from memory of zeros. What it
// brings back is compared with them.
// Thread safety: one object per thread; what is in ReplayWorld is shared.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tracer/gtrace/base/walk.h"
#include "tracer/gtrace/replay/call_encoder.h"
#include "tracer/gtrace/replay/command_updates.h"
#include "tracer/gtrace/replay/data.h"
#include "tracer/gtrace/replay/device_data.h"
#include "tracer/gtrace/replay/native_kernels.h"
#include "tracer/gtrace/replay/overlap.h"
#include "tracer/gtrace/replay/plain_calls.h"
#include "tracer/gtrace/replay/world.h"
#include "traces/api/decode.h"
#include "traces/api/invoke.h"

namespace gt::tracer {

struct LastCall;

class Replayer : api::ObjectMap {
  using ObjectKind = model::ObjectKind;

 public:
  explicit Replayer(ReplayWorld& world);
  ~Replayer();

  // The recorded call `number` once more. OpenCl: it failed although it had not when it was recorded.
  Status call(model::ShapeId shape, std::span<const int64_t> values, uint64_t number);
  // The same where it is one like those before, but for numbers (plain_calls.h); false: it is not. `outcome` is left as
  // it is if the call ended as they did.
  bool call_like_before(const WalkedEvent& e, Status& outcome);
  // The calls of a loop, from call `number` on, as long as each is one like those before: none, or up to any of them.
  // `last` may be null.
  Status call_rounds(model::Rounds& rounds, uint64_t number, LastCall* last);
  void finish() {  // what is still under way, and nobody has waited for
    if (overlap_) overlap_->wait();
  }

 private:
  // Memory of the program that the current call moves data from or to.
  struct Moved {
    uint8_t* at = nullptr;
    HostPlace place;
    api::HostBox box;
  };

  void* host(uint64_t address, const api::HostBox& box) override;
  uint64_t code(uint64_t address) override;
  uint64_t raw(uint64_t value) override;

  const ShapePlan& plan_of(model::ShapeId shape);
  Status ended_otherwise(int32_t answer, PlainCall& kept, std::span<const int64_t> values, uint64_t number);
  void keep_plain(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values,
                  AnyFunction function);
  void note_plain(const PlainCall& kept);
  void note_rounds(uint64_t rounds, size_t within);
  Status leave_rounds(model::Rounds& rounds, size_t at, int32_t answer, uint64_t number);
  Status call_marker(const model::Shape& native, const ShapePlan& plan, std::span<const int64_t> values);
  Status make(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values);
  Status not_made(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values,
                  const std::string& why);
  Status call_driver(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values,
                     AnyFunction function);
  Status conclude(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values,
                  AnyFunction function);
  api::Invoked invoke(uint16_t fn, AnyFunction function);
  // Makes the current call, and counts it with the time that it took.
  template <class Make>
  auto measured(Make make) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point began = world_.times_calls ? Clock::now() : Clock::time_point();
    const auto answer = make();
    if (!world_.measures.load(std::memory_order_relaxed)) return answer;
    ++times_[shape_].calls;
    if (world_.times_calls)
      times_[shape_].host_ns += static_cast<uint64_t>(std::chrono::nanoseconds(Clock::now() - began).count());
    return answer;
  }
  Launch launch_of(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values,
                   AnyFunction function);
  Status bridge(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values, AnyFunction function,
                const Status& failed);
  Status bridge_work_group(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values,
                           AnyFunction function, const Status& failed);
  bool make_without(const char* param, const model::Shape& shape, const ShapePlan& plan,
                    std::span<const int64_t> values, AnyFunction function);
  Status bridge_binary(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values,
                       const Status& failed);
  std::string source_of(cl_program program) const;
  bool gives_object(const ShapePlan& plan) const;
  Status judge_svm(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) const;
  Status leave_out(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values);
  void restore_devices(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values);
  ReplayedCall made_now(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) const;
  bool reads_back(const ShapePlan& plan) const;
  uint64_t queue_of(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) const;
  std::string kernel_name(const model::Shape& shape, const ShapePlan& plan) const;
  Status judge(const ShapePlan& plan, std::span<const int64_t> values);
  void name_outputs(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values);
  void name_callback(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values);
  void call_back(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values);
  void await(const RegisteredCallback& registered);
  void note_address(uint64_t recorded);
  void note_device_address(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values);
  void note_command_buffer(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values);
  void name_output(const model::Shape& shape, const model::Arg& arg, std::span<const int64_t> values,
                   const api::DecodedArg& made);
  void send(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values);
  void send_shared(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values);
  void look_at_result(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values);
  void look_at_mapping(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values);
  void look_at_late_reads(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values);
  void go_on(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values);
  uint64_t in_order(uint64_t queue) const;
  void forget_late_reads(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values);
  uint64_t hold_event(const model::Shape& shape, const ShapePlan& plan) const;
  ResultPlace result(uint64_t buffer) const;
  std::optional<HostPlace> host_pointer(const model::Shape& shape, const ShapePlan& plan,
                                        std::span<const int64_t> values, size_t which) const;
  bool has_come(uint64_t address);
  uint8_t* given_memory(const HostPlace& place, size_t bytes) const;
  bool copies_late(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) const;
  void note_late_copy(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values);
  uint64_t first_input();
  bool names_memory_object(const model::Shape& shape, const ShapePlan& plan) const;
  void note_updates(const ShapePlan& plan, const model::Shape& shape, std::span<const int64_t> values);
  void note_touched(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values);
  bool is_block(const model::Arg& arg) const;
  bool lacks_values(const ShapePlan& plan, std::span<const int64_t> values) const;
  bool maps_undefined(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) const;
  bool is_undefined(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) const;
  void keep_queues(const model::Shape& shape);
  void note_kernels(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values);
  void note_binding(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values, uint64_t kernel);
  uint64_t first_of(ObjectKind kind, const model::Shape& shape, const ShapePlan& plan,
                    std::span<const int64_t> values) const;
  void lose_outputs(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values);
  int64_t content_of(const ShapePlan& plan, std::span<const int64_t> values) const;

  ReplayWorld& world_;
  std::vector<std::unique_ptr<ShapePlan>> plans_;
  std::map<model::ShapeId, MarkerInPlace> markers_;
  CallEncoder encoder_;
  CommandUpdates updates_;
  PlainCalls plain_;
  std::vector<PlainStep> round_;  // the calls of the loop that is being made
  struct LaunchedLast {
    uint64_t kernel = 0, changes = 0;
    model::ClassId cls = 0;
    bool operator==(const LaunchedLast&) const = default;
  } launched_;
  std::vector<ShapeTime> times_;  // of what this thread made
  static constexpr size_t MostMigrations = 4096;  // that wait at once
  api::InvokeContext context_;
  std::deque<api::Arena> migrated_;
  api::VectorWriter outputs_;
  std::vector<api::DecodedArg> made_;
  ReplayedData data_;
  std::optional<Overlap> overlap_;
  DeviceData device_;

  // The current call.
  model::ShapeId shape_ = 0;
  uint64_t number_ = 0;
  int64_t content_ = -1;
  bool reads_ = false;      // into the program's memory
  bool unknown_ = false;    // what it works on was not recorded whole
  bool late_ = false;       // and what it brings was seen later
  bool late_copy_ = false;  // the same by pointers
  bool goes_on_ = false;    // it blocked, and does not now
  Moved moved_;
};

}  // namespace gt::tracer
