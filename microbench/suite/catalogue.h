// The benchmark programs: what gmicrobench apps knows of each.
// Thread safety: constants, and functions without state.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traces/base/status.h"

namespace gt::bench {

// Under what a program runs.
enum class RunPolicy : uint8_t { Default, Goptimize, GoptimizeNoProfile, HandPinned, Remote, RemoteShm };
inline constexpr size_t RunPolicies = 6;
// Whether the device is used from elsewhere: what that costs is an overhead, not a speedup.
constexpr bool is_remote(RunPolicy policy) { return policy == RunPolicy::Remote || policy == RunPolicy::RemoteShm; }
std::string_view policy_name(RunPolicy policy);   // as --policy takes it
std::string_view policy_title(RunPolicy policy);  // as tables show it

struct BenchProgram {
  std::string_view name;   // bin/apps/app_NAME
  std::string_view shape;  // what it computes
  std::string_view style;  // how it allocates and transfers
};

std::span<const BenchProgram> bench_programs();

// "a,b" as programs, in the catalogue's order; "" is all. Invalid, with the ones that there are, for an unknown name.
Result<std::vector<const BenchProgram*>> choose_programs(const std::string& list);
// "a,b" as policies, in the order of RunPolicy, each once.
Result<std::vector<RunPolicy>> choose_policies(const std::string& list);

}  // namespace gt::bench
