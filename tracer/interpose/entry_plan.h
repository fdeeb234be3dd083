// Deciding, on the file's bytes and before the program starts, which of its own functions can be given another entry.
//
// The jump to a hook displaces the first instructions of a function. They are moved to a trampoline, decoded and
// relocated by Capstone: RIP-relative operands, short and near branches and calls are made to reach what they reached.
// Refused, each with its reason: what is too short, what other code of the function jumps into, what is chosen at
// start (IFUNC), what cannot be moved (loop, jrcxz; on AArch64 anything PC-relative but adr and adrp).
// Thread safety: yes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/base/status.h"

namespace gt::interpose {

enum class EntryUse : uint8_t {
  None,   // not a function of interest
  Hook,   // its entry is to lead to our hook
  Known,  // our hooks call it, but its entry stays
};

struct EntryPlan {
  std::string text;  // for entry_patch.h; "" when there is nothing to do
  std::vector<std::string> hooked;
  struct Refusal {
    std::string name;
    std::string reason;  // "it is too short to hold a jump (3 bytes)"
  };
  std::vector<Refusal> refused;
};

// `use` is asked for every function that `binary` defines. Corrupt, or a plan without entries, never more than that,
// for whatever the file holds.
Result<EntryPlan> plan_entries(const std::string& binary, const std::function<EntryUse(std::string_view)>& use);

}  // namespace gt::interpose
