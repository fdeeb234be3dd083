// What a proxy tells of itself: as JSON for `gproxy status`, as metrics for Prometheus.
// Thread safety: functions without state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "traces/base/status.h"
#include "transport/gproxy/devices.h"
#include "transport/gproxy/worker_pool.h"

namespace gt::proxy {

struct ProxyFacts {
  std::vector<std::string> urls;
  std::vector<DeviceFacts> devices;
  uint64_t started_ns = 0;
  size_t most_sessions = 0;
};

struct Moment {  // what changes
  uint64_t now_ns = 0, turned_away = 0, lost_lines = 0;
  bool draining = false;
};

std::string status_json(const ProxyFacts& facts, const WorkerPool& pool, const Moment& moment);
std::string metrics_text(const ProxyFacts& facts, const WorkerPool& pool, const Moment& moment);

// The JSON as a table for people. Corrupt when it is not status_json()'s.
Result<std::string> status_table(std::string_view json);

// Beside the socket of a rendezvous: who connects there is told the status.
std::string status_socket(const std::string& rendezvous);

}  // namespace gt::proxy
