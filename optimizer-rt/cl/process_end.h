// The very end of the process: after the program's exit handlers, its static destructors, and those of all libraries.
// Thread safety: any thread.
#pragma once

namespace gt::opt {

// `last` runs then, unless the process ends otherwise than by exit(); it may be given as late as in an exit handler.
// False: it will not run; there is room for one.
bool run_at_process_end(void (*last)()) noexcept;

}  // namespace gt::opt
