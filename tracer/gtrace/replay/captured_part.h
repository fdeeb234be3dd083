// A recording that has the data of a part of its calls only (gtrace run --capture-kernel, --capture-range).
//
// Calls that make objects are made; commands that move data or run kernels only if they belong to the part. What the
// others would have given is an event that is complete.
// Thread safety: constant.
#pragma once

#include <optional>
#include <string>

#include "tracer/gtrace/replay/launches.h"
#include "tracer/gtrace/replay/shape_plan.h"

namespace gt::tracer {

class CapturedPart {
 public:
  explicit CapturedPart(const model::Trace& trace);

  bool any() const { return !text_.empty(); }
  const std::string& text() const { return text_; }                   // "kernel stir#3", "calls 14..20"
  const std::optional<LaunchChoice>& launch() const { return launch_; }

  // Must the call be left out, since the data is not there that it would work on?
  bool leaves_out(const ShapePlan& plan) const;
  // Invalid: the part never came; or it has nothing of the launch that is asked for.
  Status came(const model::Trace& trace) const;
  Status has(const LaunchChoice& choice) const;
  // Why a launch was not reached; `fallback` where the recording has all data.
  std::string not_reached(const LaunchChoice& choice, std::string fallback) const;

 private:
  std::string text_;
  std::optional<LaunchChoice> launch_;
};

}  // namespace gt::tracer
