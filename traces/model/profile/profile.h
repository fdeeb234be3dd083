// APP.gprofile: what the analyzer learnt and the optimizer may act on. A versioned, commented, hand-editable text
// file, one `key = value` a line under `[sections]`; unknown keys are refused with line and column.
// Places in code are named (build-id, module file name, offset of the return address), so that they survive ASLR; a
// profile whose build-ids do not match the program is ignored site by site.
// docs/PROFILE_FORMAT.md is the document of the format.
// Thread safety: values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/base/status.h"

namespace gt::model {

constexpr int ProfileVersion = 2;

struct ProfilePlace {
  std::string build_id;  // hex; empty when the module has none (then `module` must match)
  std::string module;    // file name without directory
  uint64_t offset = 0;   // return address minus load bias
  bool operator==(const ProfilePlace&) const = default;
};

// So many allocations of `from` up to, not including, 2 * `from` bytes; `from` is a power of two, or 0 for size 0.
struct SizeCount {
  uint64_t from = 0, count = 0;
  bool operator==(const SizeCount&) const = default;
};

struct ProfileSite {
  std::string build_id;  // as in ProfilePlace
  std::string module;
  uint64_t offset = 0;
  std::vector<ProfilePlace> around;  // the calls around it, innermost first, where the place alone serves several uses
  std::string where;                 // function and file:line, for people
  std::string call;                  // malloc, calloc, operator new, ...
  uint64_t min_bytes = 0;            // allocations of this site outside [min, max] are left alone
  uint64_t max_bytes = 0;
  uint64_t typical_bytes = 0;    // mean size of those in the trace: what costs are predicted for; 0: not known
  std::vector<SizeCount> sizes;  // those in the trace, ascending; empty: not known
  uint64_t allocations = 0;      // seen in the trace
  uint64_t seen_in = 0;          // in how many of the profile's traces; 0: not known
  double transfers_each = 0;     // transfers per allocation
  uint64_t h2d_bytes = 0, d2h_bytes = 0;
  uint64_t transfer_ns = 0;
  std::string policy = "auto";   // auto, standard, opencl, locked, hybrid, pin, staged
  std::string predicted_policy;  // what the costs of [platform] speak for; empty: not predicted
  double predicted_s = 0;        // what allocations and transfers cost with it, and with ordinary memory
  double standard_s = 0;
};

// Memory that no allocation of the program made: no policy can place it, but its transfers can be staged.
struct ProfileStaging {
  std::string kind = "unknown";  // stack, static, file, unknown
  std::string module;            // of static data: the module; of a file: its name
  uint64_t transfers = 0;
  uint64_t h2d_bytes = 0, d2h_bytes = 0;
  uint64_t transfer_ns = 0;
  uint64_t smallest_bytes = 0, largest_bytes = 0;  // of one transfer
  bool stage = false;       // may it pay? For people: the optimizer decides by what it measured
  uint64_t stage_from = 0;  // from this size of a transfer on
};

// May commands run on remote devices? Without a place: of the whole program; else of the queues made there.
struct ProfileRoute {
  ProfilePlace queue;
  std::string where;
  bool remote = true;
  std::vector<std::string> reasons;  // what stands against it; none when `remote`
  bool whole_program() const { return queue == ProfilePlace(); }
};

// Whose measured costs the predictions come from.
struct ProfilePlatform {
  std::string fingerprint;  // model::fingerprint of the machine
  std::string cpu, device, driver;
};

struct Profile {
  int version = ProfileVersion;
  std::string program;  // path of the executable that was traced
  std::string build_id;
  std::string trace_digest;
  uint64_t traces = 1;  // how many it was made from
  double dispatch_ratio = 0;
  bool eligible = false;
  std::optional<ProfilePlatform> platform;
  std::vector<ProfileRoute> routes;
  std::vector<ProfileSite> sites;
  std::vector<ProfileStaging> staging;
};

std::string format_profile(const Profile& profile);                           // with comments; of this version
Result<Profile> parse_profile(std::string_view text, std::string_view name);  // errors: "NAME:LINE:COLUMN: ..."

}  // namespace gt::model
