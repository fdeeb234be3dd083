// Descriptors of ours in somebody else's program: under numbers that programs hardly come to, and never 0 to 2.
//
// A program may have its standard files closed, and what it opens must have the numbers that it would have without us.
// Not so high that the kernel's table of them grows much: every fork copies it.
// Thread safety: a function of its argument. Cost: three system calls.
#pragma once

#include "traces/base/fd.h"

namespace gt {

// The same file under a high number, close-on-exec. Where the limit leaves no high one, any above 2. Not open:
// there is none (errno), or `low` was not.
Fd high_fd(Fd low) noexcept;

}  // namespace gt
