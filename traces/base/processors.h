// How many processors this process may use.
// Allocates nothing, leaves errno alone: injected code uses it. Thread safety: all functions.
#pragma once

namespace gt {

// By its affinity mask, and by the time that its control groups leave it, as in containers; at least 1. Threads beyond
// that would only take turns, or spend the group's time early and then be held up all together.
unsigned usable_processors() noexcept;

// The least quota of the process's control group and of those above it, in whole processors; 0: none, `root` as in
// traces/base/cgroups.h.
unsigned processor_quota(const char* root) noexcept;

}  // namespace gt
