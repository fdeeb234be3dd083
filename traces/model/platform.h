// platform.json: what memory and transfers cost on this machine, per device and policy. gmicrobench
// writes it; the analyzer and the optimizer read it.
//
// The file names the machine and its drivers; one of another machine or driver is refused
// (matches_here), because its curves would be wrong without looking wrong. Reading is strict:
// unknown keys, wrong types and curves that descend are errors that name their place. Thread
// safety: values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/base/status.h"
#include "traces/model/curve.h"
#include "traces/model/policy.h"

namespace gt::model {

constexpr int PlatformVersion = 1;

struct Machine {
  std::string cpu;    // the model name
  uint32_t cpus = 0;  // logical
  uint64_t memory_bytes = 0;
  std::string
      drivers;  // fingerprint of the installed OpenCL drivers and of the variables that choose them
  bool operator==(const Machine&) const = default;
};

struct PolicyCosts {
  Curve allocation;  // allocate, touch every page, make transferable, release: ns
  Curve h2d,
      d2h;  // one blocking transfer of memory that is already allocated, touched and pinned: ns
  uint64_t max_bytes = 0;  // larger requests were refused (RLIMIT_MEMLOCK, memory); 0: none was
  double noise = 0;        // relative half-width of the interval in which the medians lie
};

struct DeviceCosts {
  std::string platform;  // CL_PLATFORM_NAME
  std::string name;      // CL_DEVICE_NAME
  std::string driver;    // CL_DRIVER_VERSION
  std::array<std::optional<PolicyCosts>, PolicyCount> policies;

  const PolicyCosts* costs(Policy p) const {
    const auto& c = policies[static_cast<size_t>(p)];
    return c ? &*c : nullptr;
  }
};

// What a link to devices of another machine costs.
struct LinkCosts {
  std::string name;        // a URL, or what the user calls it
  double latency_ns = 0;   // one way, of a message without data: half of a round trip
  double command_ns = 0;   // what sending one command takes of the sender's time
  Curve put, get;          // how long bytes to the device (from it) occupy the link: ns, without the latency
};

struct Platform {
  int version = PlatformVersion;
  Machine machine;
  bool quick = false;  // measured with the short time budget
  std::vector<DeviceCosts> devices;
  std::vector<LinkCosts> links;  // may be missing from the file: none was measured
};

std::string format_platform(const Platform& platform);
// Errors are Corrupt: "NAME: devices[0].policies.pin.h2d: ...".
Result<Platform> parse_platform(std::string_view text, std::string_view name);
Result<Platform> read_platform(const std::string& path);
// Replaces the file in one step; makes its folder.
Status write_platform(const Platform& platform, const std::string& path);

// Loads no driver: the fingerprint is made of the ICD files, the libraries that they name, and the
// environment.
Machine this_machine();
// 16 hex digits that tell one machine, with its drivers, from others.
std::string fingerprint(const Machine& machine);
// Unsupported, naming what differs, when `platform` was not measured here.
Status matches_here(const Platform& platform, const Machine& here);

// $XDG_CACHE_HOME/gtrace/platform.json, or ~/.cache/...; empty when there is no home.
std::string platform_cache_path();

}  // namespace gt::model
