// platform.json: what memory, transfers and launches cost on this machine, per device and policy. gmicrobench writes
// it; the analyzer and the optimizer read it. docs/gmicrobench.md has the format, docs/platform.schema.json its schema.
//
// The file names the machine and its drivers; one of another machine or driver is refused (matches_here), because its
// curves would be wrong without looking wrong. Reading is strict: unknown keys, wrong types and curves that descend
// are errors that name their place. What is optional was not measured when it is absent: a file of version 1 has none.
// goptimize measures the devices that programs open, when they open them: of the others the file has the names, and of
// those for which the time did not suffice what was measured by then.
// Thread safety: values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/base/status.h"
#include "traces/model/curves/curve.h"
#include "traces/model/platform/policy.h"

namespace gt::model {

constexpr int PlatformVersion = 3;        // written
constexpr int OldestPlatformVersion = 1;  // read

struct Machine {
  std::string cpu;    // the model name
  uint32_t cpus = 0;  // logical
  uint64_t memory_bytes = 0;
  std::string drivers;  // fingerprint of the installed OpenCL drivers and of the variables that choose them
  std::optional<std::string> accelerators = {};  // PCI numbers of its graphics cards and the like; nothing: not known
  bool operator==(const Machine&) const = default;
};

struct BothWays {
  Curve h2d, d2h;  // ns
};

struct PolicyCosts {
  Curve allocation;  // allocate, touch every page, make transferable, release: ns
  Curve h2d, d2h;    // one blocking transfer of memory that is already allocated, touched and pinned: ns
  uint64_t max_bytes = 0;  // larger requests were refused (RLIMIT_MEMLOCK, memory); 0: none was
  double noise = 0;        // relative half-width of the interval in which the medians lie
  std::optional<BothWays> window = {};  // one of many non-blocking transfers, waited for together: ns each
};

// Transfers of any pageable memory through pinned chunks, filled (emptied) by copy threads.
struct StagedCosts {
  Curve h2d, d2h;  // one blocking transfer, threads and chunks being there: ns
  uint32_t threads = 0;
  uint64_t chunk_bytes = 0;
};

// Copies between the host's memory and shared virtual memory (coarse-grained: the device's).
struct SvmCosts {
  BothWays standard, pinned;       // one blocking copy, by what the host's memory is: ns
  std::optional<BothWays> staged;  // with the threads of StagedCosts
};

struct LaunchCosts {
  double sync_ns = 0;   // an empty kernel, launched and waited for
  double async_ns = 0;  // one of many empty kernels, waited for together
};

struct MapCosts {
  Curve read, write;  // map a buffer of the device for that, blocking, and unmap it: ns
};

enum class DeviceType : uint8_t { Unknown, Cpu, Gpu, Accelerator, Custom, Count };
constexpr std::array<std::string_view, static_cast<size_t>(DeviceType::Count)> DeviceTypeNames = {
    "unknown", "cpu", "gpu", "accelerator", "custom"};

struct DeviceCosts {
  std::string platform;  // CL_PLATFORM_NAME
  std::string name;      // CL_DEVICE_NAME
  std::string driver;    // CL_DRIVER_VERSION
  std::array<std::optional<PolicyCosts>, PolicyCount> policies;
  bool quick = false;  // measured with the short time budget
  DeviceType type = DeviceType::Unknown;
  std::optional<bool> host_unified;   // CL_DEVICE_HOST_UNIFIED_MEMORY: its memory is the host's
  std::optional<Curve> pin;           // pin an existing, touched range in place, and unpin it: ns
  std::optional<StagedCosts> staged;
  std::optional<SvmCosts> svm;
  std::optional<LaunchCosts> launch;
  std::optional<Curve> copy;          // from a buffer of the device to another, and wait: ns
  std::optional<MapCosts> map;
  std::optional<BothWays> rect;       // half of each row of a pitched block, blocking, by the bytes moved: ns
  std::optional<Curve> duplex;        // such a transfer each way at once, on two queues, until both are done: ns

  const PolicyCosts* costs(Policy p) const {
    const auto& c = policies[static_cast<size_t>(p)];
    return c ? &*c : nullptr;
  }
};

struct CopyRate {
  uint32_t threads = 0;
  double bytes_per_s = 0;  // of all of them together
  bool operator==(const CopyRate&) const = default;
};

// What the host's memory costs, without any device.
struct HostCosts {
  std::optional<Curve> first_touch;    // write every page of fresh memory for the first time: ns
  std::vector<CopyRate> copy_threads;  // memcpy of large blocks; threads ascend
};

// A device that broke off while it was measured.
struct FailedDevice {
  std::string platform, name, driver;
  std::string error;
  uint64_t time_s = 0;    // when, since 1970; 0: not known
  bool given_up = false;  // it took too long and came no further: it is measured only when the user wants it
};

// A device of which nothing else is known.
struct DeviceName {
  std::string platform, name, driver;
  bool operator==(const DeviceName&) const = default;
};

// A device whose measuring was ended, with what was measured by then.
struct UnfinishedDevice {
  DeviceCosts costs;               // may lack any policy
  std::vector<std::string> steps;  // of the measurement that are done, by the names that gmicrobench gives them
};

// What a link to devices of another machine costs.
struct LinkCosts {
  std::string name;        // a URL, or what the user calls it
  double latency_ns = 0;   // one way, of a message without data: half of a round trip
  double command_ns = 0;   // what sending one command takes of the sender's time
  Curve put, get;          // how long bytes to the device (from it) occupy the link: ns, without the latency
};

struct Platform {
  int version = PlatformVersion;  // of the file that it was read from; the newest one is written
  Machine machine;
  bool quick = false;  // all of it was measured with the short time budget
  HostCosts host;
  std::vector<DeviceCosts> devices;
  std::vector<FailedDevice> failed;
  std::vector<UnfinishedDevice> unfinished;
  std::vector<DeviceName> unused;  // devices of this machine that were not to be measured yet
  bool unlisted = false;           // there may be more devices, of which the file knows nothing
  std::vector<LinkCosts> links;  // may be missing from the file: none was measured
};

std::string format_platform(const Platform& platform);
// Errors are Corrupt: "NAME: devices[0].policies.pin.h2d: ...".
Result<Platform> parse_platform(std::string_view text, std::string_view name);
Result<Platform> read_platform(const std::string& path);
// Replaces the file in one step; makes its folder.
Status write_platform(const Platform& platform, const std::string& path);

// Loads no driver: the fingerprint is made of the ICD files, the libraries that they name, and the environment; what
// devices there are is asked of the system.
Machine this_machine();
// 16 hex digits that tell one machine, with its drivers, from others.
std::string fingerprint(const Machine& machine);
// Unsupported, naming what differs, when `platform` was not measured here.
Status matches_here(const Platform& platform, const Machine& here);
// read_platform(), refused as above when it is not of this machine.
Result<Platform> read_platform_of_here(const std::string& path);

uint64_t seconds_now();  // since 1970, as FailedDevice says

// $XDG_CACHE_HOME/gtrace/platform.json, or ~/.cache/...; empty when there is no home.
std::string platform_cache_path();

}  // namespace gt::model
