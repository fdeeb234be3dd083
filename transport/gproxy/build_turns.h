// Workers take turns at building the same program.
//
// Drivers keep what they built in files, which the processes of a user share, and not all can have the same program
// built twice at once: PoCL 3.1 removes the file that is there, and fails when another process was faster. Besides, who
// waits finds the program in the driver's cache. A turn is a lock of one byte of a file that all workers have: it goes
// with its process, however that ends.
// Thread safety: functions from any thread.
#pragma once

#include <string_view>

#include "traces/base/fd.h"

namespace gt::proxy {

// The file, without contents. Not open: the system has none to give, and nobody waits for anybody.
Fd build_turns();
// Waits until nobody else builds `what`; the turn is over when the result goes. `turns`: what build_turns() gave.
Fd take_build_turn(int turns, std::string_view what);

}  // namespace gt::proxy
