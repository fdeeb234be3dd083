// One profile that holds for all of several traces.
// Thread safety: pure.
#pragma once

#include <span>

#include "analyzer/compare/compare.h"

namespace gt::analyzer {

// The ratio of all inputs together: time in transfers over time in kernels.
Ratio united_ratio(std::span<const Input> inputs);

// Ranges united, transfers weighted; `seen_in` tells how many of the inputs have a site. Invalid, naming both files,
// when the inputs are of different programs or builds. REQUIRES: at least one input.
Result<model::Profile> unite_profiles(std::span<const Input> inputs, double min_ratio);

}  // namespace gt::analyzer
