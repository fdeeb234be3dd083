// How the calls of a shape are made again: which of its arguments are inputs, where their values stand in a row.
// Thread safety: constant.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "traces/api/api.h"
#include "traces/model/fold/event.h"

namespace gt::tracer {

struct ShapePlan {
  bool callable = false;  // an OpenCL function, recorded whole, with objects of the kinds that it takes
  bool reads = false;     // it moves data from the device into memory of the program
  const api::FnInfo* fn = nullptr;
  std::vector<uint16_t> value_at;  // by argument: index of its first value
  // The inputs of the function: arguments [first, last), parameter i from input_at[i] to input_at[i + 1].
  std::vector<uint16_t> input_at;
  std::vector<uint16_t> outputs;  // arguments that the call returned or wrote
  int status = -1;                // index of the value that says how it ended; -1: nothing does
  int callback = -1;              // the argument that is the callback which the call registers; -1: none
  std::vector<uint16_t> shared;   // arguments that are places of contents (ParamSharedContent); a number follows each
  int address = -1;               // index of the value that says where memory lay that it gave (ParamAddress)
  bool chosen = false;                  // ParamBefore is there: the call has its data, where not all have
  std::vector<uint16_t> before, after;  // likewise: what devices held (ParamBefore, ParamAfter)
  std::vector<uint16_t> updates;  // arguments that say what changes in command buffers (ParamUpdate)
  int kernel = -1;                // the first input that is a kernel; -1: none is
  int content = -1;               // index of the value that says what was moved
};

ShapePlan plan_shape(const model::Shape& shape, const model::Trace& trace);

// A number, or 0 where a damaged trace has something else.
inline int64_t number_at(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values,
                         size_t arg) {
  return arg < shape.args.size() && shape.args[arg].form == model::ArgForm::Int ? values[plan.value_at[arg]] : 0;
}

// The class of the kernel that a call is given first; NoIndex: none.
inline model::ClassId kernel_class(const model::Shape& shape, const ShapePlan& plan) {
  return plan.kernel < 0 ? model::NoIndex : shape.args[static_cast<size_t>(plan.kernel)].cls;
}

// The first number of a parameter of the function; 0: there is none.
inline int64_t number_of(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values, int param) {
  return param < 0 ? 0 : number_at(shape, plan, values, plan.input_at[static_cast<size_t>(param)]);
}

}  // namespace gt::tracer
