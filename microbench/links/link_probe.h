// Measures a link to an echo (echo.h): round trips, what sending costs, bandwidth by size, and the delay window; beside
// it the bare socket, or memcpy inside a node, in turns with the link so that both see the same machine.
// Thread safety: none.
#pragma once

#include <string>
#include <vector>

#include "traces/model/platform/platform.h"
#include "transport/link/base/link.h"
#include "transport/link/hello/credentials.h"
#include "transport/link/hello/url.h"

namespace gt::bench {

struct LinkSize {
  size_t bytes = 0;
  double put_ns = 0, get_ns = 0;              // of one of many that are under way together
  double bare_put_ns = 0, bare_get_ns = 0;    // the same of the bare thing; 0: there is none
};
struct LinkResult {
  std::string url;
  double round_trip_ns = 0, round_trip_p99_ns = 0, bare_round_trip_ns = 0;  // of a frame of 32 bytes
  double command_ns = 0;                                                    // of the sender's time, with more to follow
  std::vector<LinkSize> sizes;
  size_t window_bytes = 0;  // after the last transfer; 0: the link has none
  double base_ns = 0, target_ns = 0;
};

Result<LinkResult> measure_link(const wire::Url& url, const wire::Credentials& credentials, bool quick);

// As platform.json has it.
Result<model::LinkCosts> link_costs(const LinkResult& result);
std::string link_table(const LinkResult& result);
std::string link_json(const LinkResult& result);

}  // namespace gt::bench
