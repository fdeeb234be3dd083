// The question for a program's binaries, whose answer goes behind pointers that only the recorded program had.
// Thread safety: any thread.
#pragma once

#include "tracer/gtrace/replay/opencl_library.h"

namespace gt::tracer {

// `function`, or for clGetProgramInfo one that gives the driver memory for binaries, and forgets them.
AnyFunction with_room_for_binaries(uint16_t fn, AnyFunction function);

}  // namespace gt::tracer
