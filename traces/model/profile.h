// APP.gprofile: what the analyzer learnt and the optimizer may act on. A versioned, commented, hand-editable text
// file, one `key = value` a line under `[sections]`; unknown keys are refused with line and column.
// Sites are named (build-id, module file name, offset of the return address), so that they survive ASLR; a profile
// whose build-ids do not match the program is ignored site by site.
// Thread safety: values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "traces/base/status.h"

namespace gt::model {

constexpr int ProfileVersion = 1;

struct ProfileSite {
  std::string build_id;          // hex; empty when the module has none (then `module` must match)
  std::string module;            // file name without directory
  uint64_t offset = 0;           // return address minus load bias
  std::string where;             // function and file:line, for people
  std::string call;              // malloc, calloc, operator new, ...
  uint64_t min_bytes = 0;        // allocations of this site outside [min, max] are left alone
  uint64_t max_bytes = 0;
  uint64_t typical_bytes = 0;    // mean size of those in the trace: what costs are predicted for; 0: not known
  uint64_t allocations = 0;      // seen in the trace
  double transfers_each = 0;     // transfers per allocation
  uint64_t h2d_bytes = 0, d2h_bytes = 0;
  uint64_t transfer_ns = 0;
  std::string policy = "auto";   // auto, standard, opencl, locked, hybrid, pin, staged
};

struct Profile {
  int version = ProfileVersion;
  std::string program;           // path of the executable that was traced
  std::string build_id;
  std::string trace_digest;
  double dispatch_ratio = 0;
  bool eligible = false;
  std::vector<ProfileSite> sites;
};

std::string format_profile(const Profile& profile);                         // with comments
Result<Profile> parse_profile(std::string_view text, std::string_view name);  // errors: "NAME:LINE:COLUMN: ..."

}  // namespace gt::model
