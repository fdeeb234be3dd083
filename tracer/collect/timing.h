// --timing as text: what the user writes, and what a trace says of itself.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tracer/lib/spool.h"

namespace gt::tracer {

struct TimingChoice {
  Timing timing = Timing::All;
  uint32_t sample = 0;  // as in SpoolHeader
};

// Nothing when `text` is none of auto, all, off, kernels, transfers, sample:N (N from 1 to 1000000).
std::optional<TimingChoice> parse_timing(std::string_view text);
std::string timing_text(TimingChoice choice);

}  // namespace gt::tracer
