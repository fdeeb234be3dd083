// What two replays that run in step tell the process that compares them, and what it answers.
//
//   replay ── Hello, Launched, Data, Ended or Failed ──> comparer
//   replay <── Go, or Send (the bytes of one output) ─── comparer
//
//   message = kind (8 bits), length of the body (64), body
//
// A launch is named by thread and number of its call: threads of one replay report while others wait for answers.
// Thread safety: send() by one thread at a time, receive() by one.
#pragma once

#include <optional>

#include "tracer/gtrace/replay/comparison.h"
#include "traces/base/fd.h"
#include "traces/contents/content_file.h"
#include "traces/model/fold/event.h"

namespace gt::tracer {

enum class StepKind : uint8_t { Hello, Launched, Data, Ended, Failed, Go, Send };

struct StepMessage {
  StepKind kind = StepKind::Hello;
  Bytes body;
};

class StepChannel {
 public:
  StepChannel() = default;
  explicit StepChannel(Fd socket) : socket_(std::move(socket)) {}

  int descriptor() const { return socket_.get(); }
  // False: the other side is gone.
  bool send(StepKind kind, ByteView body) const;
  std::optional<StepMessage> receive() const;
  void say_no_more() const;  // the other side receives nothing any more
  void end() const;          // nor does this one

 private:
  Fd socket_;
};

// The two ends of one channel.
Result<std::pair<StepChannel, StepChannel>> step_channels();

struct LaunchName {
  model::ThreadId thread = 0;
  uint64_t number = 0;
  auto operator<=>(const LaunchName&) const = default;
};

// An output that was not sent yet.
struct OutputReport {
  uint32_t argument = 0;
  std::string name;
  ElementType type = ElementType::Byte;
  uint64_t size = 0;
  contents::Hash hash;
  model::ClassId cls = model::NoIndex;  // of the object, if the recording knows it
  int64_t slot = 0;
};
struct LaunchReport {
  LaunchName launch;
  std::string kernel;
  uint64_t nth = 0;
  bool unseen = false;  // it may wait for what the program does next, so its outputs were not read
  std::vector<OutputReport> outputs;
};
Bytes encode(const LaunchReport& report);
// Nothing: it is not whole.
std::optional<LaunchReport> decode_launch(ByteView body);

// An answer, or the head of Data.
struct StepAnswer {
  LaunchName launch;
  uint32_t argument = 0;
};
Bytes encode(const StepAnswer& answer, ByteView data = {});
std::optional<StepAnswer> decode_answer(ByteView body, Bytes* data = nullptr);

}  // namespace gt::tracer
