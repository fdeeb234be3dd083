// What the first touch of memory costs here, and what huge pages saved of it: an estimate, as one thread on a quiet
// machine would have it.
#pragma once

#include <cstdint>

namespace gt::opt {

struct TouchCosts {  // ns for a byte that is written
  double ordinary = 0, huge = 0, warm = 0;  // pages of 4 KiB, of 2 MiB, those that are there
};
TouchCosts measure_touch();  // takes some ms. All 0: memory could not be had

// `filled`: came in huge pages. `kept`: was there already, where the C library's would not have been.
double touching_saved_s(const TouchCosts& costs, uint64_t filled_bytes, uint64_t kept_bytes);

}  // namespace gt::opt
