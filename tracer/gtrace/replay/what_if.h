// The same replay under other choices: with memory of another kind, or on devices behind proxies.
//
// `goptimize run` makes both for programs, and gtrace is one: the command becomes that, with itself as the program.
// Thread safety: none.
#pragma once

#include <string>
#include <vector>

#include "traces/base/status.h"

namespace gt::tracer {

struct WhatIf {
  std::string policy = "none";  // none, staged, or a policy of docs/goptimize.md: of the memory that is transferred
  std::string remote;           // URLs of proxies; only their devices are there then
  bool any() const { return (policy != "none" && policy != "standard") || !remote.empty(); }
};

// Comes back only when it failed. Unsupported: there is no goptimize beside this program. `arguments`: of gtrace
// replay; those that said this are left out.
Status become_what_if(const WhatIf& choice, const std::vector<std::string>& arguments);

}  // namespace gt::tracer
