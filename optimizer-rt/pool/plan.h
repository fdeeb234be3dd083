// What goptimize tells the injected library: which allocation sites go to which policy, on which
// devices it pays to pin, what transfers cost there. A small binary file, version 9, little-endian, of these records:
//
//   PlanHeader | PlanDevice * devices | PlanSite * sites
//
// The reader trusts nothing: sizes must match exactly, counts and enumerations lie in range, texts
// end inside their fields, and the checksum agrees. A plan that fails any check is ignored as a
// whole; the program then runs as if without us. Thread safety: values. The reader allocates
// nothing: injected code uses it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "optimizer-rt/pool/counters.h"
#include "optimizer-rt/pool/pinned_pool.h"
#include "traces/model/platform/policy.h"

namespace gt::opt {

constexpr char PlanMagic[8] = {'g', 't', 'p', 'l', 'a', 'n', '\n', '\0'};
constexpr uint32_t PlanVersion = 9;
constexpr uint64_t LeastMargin_ns = 5'000'000;  // what a site may lose in any case before it is suspended
constexpr uint64_t MostMargin_ns = 2'000'000'000;
constexpr size_t MaxPlanDevices = 32;                    // bits of PlanSite::pin_on
constexpr const char* PlanVariable = "GTRACE_OPT_PLAN";  // path of the plan
constexpr const char* CountersVariable =
    "GTRACE_OPT_COUNTERS";  // path of the counters (counters.h)
constexpr const char* LibcEntriesVariable = "GTRACE_OPT_LIBC_ENTRIES";  // how to patch libc (libc_entries.h)

// Transfers of memory that no site covers.
enum class Staging : uint32_t {
  Never,
  Auto,    // where the costs say that it pays
  Always,  // from LeastStaged on, on every device: for tests
  Count,
};
constexpr double ClearlyLess = 0.9;  // of the standard way's cost: what staging must not take more than, to be worth it

// Pinning in place what no site covers, when it is transferred again and again.
enum class Reuse : uint32_t {
  Never,
  Auto,    // where the costs say that it pays
  Always,  // at the second transfer, on every device: for tests
  Count,
};

struct PlanHeader {
  char magic[8];
  uint32_t version;
  uint32_t devices, sites;
  uint32_t pin_everywhere;  // 1: pin on devices that the plan does not name, too (a forced policy)
  uint64_t driver_bytes;    // how much memory of the driver's the opencl policy asks for, at once
  double touch_ns_per_byte; // of the first touch of fresh memory, by one thread; 0: not measured
  uint32_t staging;         // Staging
  uint32_t copy_threads;    // the caller included; 0: by the processors there are
  uint32_t reuse;           // Reuse
  uint32_t shared;          // 1: the pools lie in files of memory, which executors of this node may map
  uint32_t asks;            // 1: what devices cost that are not named here can be asked for (requests.h)
  uint32_t huge_pages;      // 1: the program's large blocks get them (huge_pages.h)
  uint64_t checksum;        // FNV-1a of everything behind the header
};

// Nanoseconds by size: entry b is for 2^b bytes, between entries they are interpolated. All zero: not measured.
constexpr size_t CostSizes = 40;
struct SizeCosts {
  float ns[CostSizes];

  bool known() const noexcept { return ns[CostSizes - 1] > 0; }
  double operator()(size_t bytes) const noexcept;
};

// One blocking transfer, by what the host's memory is.
struct WayCosts {
  SizeCosts standard, staged, pinned, opencl, locked, hybrid;

  const SizeCosts& of(model::Policy policy) const noexcept;
};

// What a transfer takes less by a policy: ns, less than nothing where it takes more. Nothing when it was not measured.
struct TransferSaving {
  double decides = 0;  // against the better of the driver's own way and staging (if `stages`)
  double counts = 0;   // against the driver's own way
};
TransferSaving transfer_saving(const WayCosts& costs, model::Policy policy, size_t bytes, bool stages) noexcept;

struct PlanDevice {
  char name[192];   // CL_DEVICE_NAME
  char driver[64];  // CL_DRIVER_VERSION
  WayCosts ways[Ways];
  SizeCosts pin;  // pinning existing memory and unpinning it
};

struct PlanSite {
  char build_id[136];  // hex; "" when the module has none
  char module[120];    // file name
  uint64_t offset;     // return address minus load bias
  uint64_t min_bytes, max_bytes;  // the profile's
  // Bit b: the policy gains also at sizes from 2^b to below 2^(b + 1), which the profile did not (all) see.
  uint64_t other_sizes;
  uint32_t pin_on;  // bit i: device i of the plan
  uint32_t policy;  // model::Policy
  uint64_t margin_ns;        // what the site may lose before it is suspended (trial_account.h); 0: whatever it loses
  double reuse_ns_per_byte;  // saved by a block that the C library would have got from the system, and did not reuse
  double lock_ns_per_byte;   // paid for locking a block that was never used before

  bool saw(size_t size) const noexcept { return size >= min_bytes && size <= max_bytes; }
  bool gains_at(size_t size) const noexcept {
    return size != 0 && (other_sizes >> (std::bit_width(size) - 1) & 1) != 0;
  }
};

struct PlanView {
  const PlanHeader* header = nullptr;
  std::span<const PlanDevice> devices;
  std::span<const PlanSite> sites;
};

uint64_t plan_checksum(std::span<const std::byte> bytes) noexcept;

// A view into `bytes` (8-byte aligned, outliving it); no sites when anything is wrong.
PlanView read_plan(std::span<const std::byte> bytes) noexcept;

}  // namespace gt::opt
