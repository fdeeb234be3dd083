// Links to other machines: measured ones come from the platform file, assumed ones from --link.
//
//   --link NAME=LATENCY_US:GBIT   latency one way (half of what ping shows), payload in 10^9 bits a second
//   --link 10GbE,wan              presets: what such a network gives a program that uses it well
// Thread safety: functions are independent.
#pragma once

#include <string_view>
#include <vector>

#include "traces/base/status.h"
#include "traces/model/platform/platform.h"

namespace gt::analyzer {

// A link whose bytes take the same time each, whatever their number.
model::LinkCosts make_link(std::string name, double latency_us, double gbit);

// `text`: comma-joined. Invalid, naming the part that is wrong.
Result<std::vector<model::LinkCosts>> parse_links(std::string_view text);

}  // namespace gt::analyzer
