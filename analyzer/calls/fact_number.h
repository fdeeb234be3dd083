// Numbers among the facts of a trace, which are text.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

#include "traces/model/fold/event.h"

namespace gt::analyzer {

// 0 for what is no number.
inline uint64_t number_in(std::string_view text) {
  uint64_t v = 0;
  std::from_chars(text.data(), text.data() + text.size(), v);
  return v;
}

// 0: not known.
inline uint64_t fact_number(const model::Trace& trace, std::string_view name) { return number_in(trace.fact(name)); }

}  // namespace gt::analyzer
