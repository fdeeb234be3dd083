// From what is known of a trace to what the optimizer may act on.
// Thread safety: pure.
#pragma once

#include "analyzer/analysis.h"
#include "traces/model/platform/platform.h"
#include "traces/model/profile/profile.h"

namespace gt::analyzer {

// With a `platform` (may be null) that has measured one of the trace's devices, the profile has predictions.
model::Profile make_profile(const Analysis& analysis, const model::Platform* platform = nullptr);

// What the platform file knows of the first device that the program used; null when nothing.
const model::DeviceCosts* costs_of_device(const Analysis& analysis, const model::Platform* platform);

}  // namespace gt::analyzer
