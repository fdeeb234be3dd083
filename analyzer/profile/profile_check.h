// ganalyze --check: what a profile says, in a few lines, and what in it looks odd although it is valid.
#pragma once

#include <string>
#include <vector>

#include "traces/model/profile/profile.h"

namespace gt::analyzer {

// Text of a few lines, without the file's name.
std::string summarize_profile(const model::Profile& profile);

// Values that are possible and hardly meant. Pure.
std::vector<std::string> odd_values(const model::Profile& profile);

// What no longer fits this machine: a module whose file here has another build-id, a platform measured elsewhere.
// Looks for modules beside the program and in the usual library folders; says nothing of those it does not find.
std::vector<std::string> strange_here(const model::Profile& profile);

}  // namespace gt::analyzer
