// What a process may do with files from now on: Landlock, which needs no rights and cannot be taken off again.
//
// For processes that build and run what a stranger wrote: gproxy's workers, and replays. What drivers need inside is
// said by driver_sandbox.h.
// Thread safety: enter_sandbox() holds for the thread that calls it and those that it starts later, not for others.
#pragma once

#include <string>
#include <vector>

#include "traces/base/status.h"

namespace gt {

struct Sandbox {
  std::vector<std::string> reads, writes;  // files and folders, with what is in them; what is not there does not matter
};

// Unsupported: this kernel does not have it.
Status sandbox_available();
Status enter_sandbox(const Sandbox& sandbox);

}  // namespace gt
