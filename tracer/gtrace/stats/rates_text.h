// Rates for people, and as one JSON object a line.
#pragma once

#include <string>

#include "tracer/gtrace/base/output.h"
#include "tracer/gtrace/stats/rates.h"

namespace gt::tracer {

struct RatesShown {
  Rates rates;
  uint64_t calls = 0;     // since the recording began
  double interval_s = 0;  // 0: not known; no rates then
  bool ended = false;     // the recording has: no more will come
};
struct RatesStyle {
  bool json = false, terminal = false;
  size_t width = 0;  // 0: as wide as it needs to be
  size_t rows = 10;  // of each part at most; 0: all
};

void print_rates(const RatesShown& shown, const RatesStyle& style, Output& out);

// Keys are explained in docs/gtrace.md; "version" counts up when one changes its meaning.
std::string rates_json(const RatesShown& shown, size_t rows);

}  // namespace gt::tracer
