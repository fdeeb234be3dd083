// What happened between two snapshots of a recording that goes on: sums of the later minus those of the earlier.
//
// Sums only grow, but a later snapshot may know better (a device time that came late, a name), so differences below
// nothing are nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/model/fold/event.h"

namespace gt::tracer {

struct MovedSum {
  model::Direction direction = model::Direction::None;
  uint64_t count = 0, bytes = 0, ns = 0;
  bool device_time = false;  // ns is device time; else host time of the calls
};
struct LaunchedSum {
  std::string name;
  uint64_t launches = 0, timed = 0, device_ns = 0;
};
// A function called at a place.
struct PlaceSum {
  std::string function, site;
  uint64_t calls = 0, bytes = 0, host_ns = 0, device_ns = 0;
};

// Each sorted, the most first: transfers by direction, kernels and places by time.
struct Rates {
  uint64_t calls = 0, memory_calls = 0;
  std::vector<MovedSum> transfers;
  std::vector<LaunchedSum> kernels;
  std::vector<PlaceSum> places;  // of OpenCL calls
};

Rates sums_of(const model::Trace& trace);

// What is in `later` and was not in `earlier`; rows in which nothing happened are left out. Where commands are timed by
// samples, device time is of all launches: what was timed, times launches by timed ones.
Rates between(const Rates& earlier, const Rates& later);

}  // namespace gt::tracer
