// What gmicrobench remote measured: as text, as JSON, as a page. Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "microbench/remote/bandwidth_probe.h"

namespace gt::bench {

// A way to the device.
struct RemoteRoute {
  std::string url;
  std::string raw;  // what its raw link is; empty: none was measured
  Times remote, link;
};

struct RemoteResult {
  std::string platform, name, driver;
  bool has_native = false;  // the same device was measured here
  Times native;
  std::vector<RemoteRoute> routes;
  struct Idle {
    size_t clients = 0;
    double cores = 0;  // that the proxy and its workers kept busy, doing nothing
  };
  std::optional<Idle> idle;
};

// Which part of the slower of the raw link and the device here a route reaches; nothing where one is not known.
std::optional<double> share_of(const RemoteResult& result, const RemoteRoute& route, Way way, Pattern pattern,
                               uint64_t bytes);

std::string remote_table(const RemoteResult& result);
// docs/gmicrobench.md has the keys.
std::string remote_json(const RemoteResult& result);
std::string remote_page(const RemoteResult& result);

}  // namespace gt::bench
