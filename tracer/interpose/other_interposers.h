// Who else puts himself between the program and the C library: preloaded libraries, sanitizers, other allocators.
#pragma once

#include <string>
#include <vector>

namespace gt::interpose {

// One line each: "FILE (preloaded)", "FILE (linked)", "FILE (a sanitizer is linked in)". From the environment's
// LD_PRELOAD, without libraries of ours, and from the files of `binary`.
std::vector<std::string> other_interposers(const std::string& binary);

}  // namespace gt::interpose
