// What clUpdateMutableCommandsKHR is given once more, out of what the trace says of it (model::ParamUpdate).
//
// The structure is that of the table's form; OpenClLibrary turns it into a list for drivers of the later one.
// Thread safety: none.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tracer/gtrace/replay/call_encoder.h"
#include "traces/api/command_update.h"

namespace gt::tracer {

class CommandUpdates {
 public:
  CommandUpdates(const model::Trace& trace, CallEncoder& encoder) : trace_(trace), encoder_(encoder) {}

  // False: why() says what is missing; encoder.lacks_lost() as for other calls.
  bool build(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values);
  const std::string& why() const { return why_; }
  // Valid until the next build().
  const api::UpdateConfig* config() const { return &config_; }

 private:
  // The elements of the trace's list, one after the other.
  struct Elements {
    const model::Shape& shape;
    const ShapePlan& plan;
    std::span<const int64_t> values;
    size_t at = 0;
    bool done() const { return at >= plan.updates.size(); }
    const model::Arg& arg() const { return shape.args[plan.updates[at]]; }
    int64_t value() const { return values[plan.value_at[plan.updates[at]]]; }
    std::optional<int64_t> number();
  };
  struct Command {
    uint64_t handle = 0;
    cl_uint work_dim = 0;
    std::vector<api::UpdateArg> args, pointers;
    std::vector<api::UpdateExecInfo> infos;
    std::vector<size_t> offset, global, local;
  };

  bool command(Elements& elements);
  bool change(Elements& elements, Command& to);
  bool given(Elements& elements, size_t size, const void*& value);
  bool pointer_of_list(Elements& elements, cl_uint name, size_t size, Command& to);
  std::optional<uint64_t> word(Elements& elements);
  bool refuse(std::string why);

  const model::Trace& trace_;
  CallEncoder& encoder_;
  std::string why_;
  std::deque<uint64_t> words_;  // what values point to
  std::deque<std::vector<uint64_t>> lists_;
  size_t filled_ = 0;  // of the last one
  std::vector<Command> commands_;
  std::vector<api::TypedDispatchUpdate> dispatches_;
  api::UpdateConfig config_{};
};

}  // namespace gt::tracer
