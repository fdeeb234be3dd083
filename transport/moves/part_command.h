// One command that moves packed bytes to or from a part of a memory object.
// Thread safety: no state.
#pragma once

#include <span>

#include "transport/protocol/messages.h"
#include "transport/opencl/cl_functions.h"

namespace gt::moves {

enum class Way : uint8_t { ToDevice, ToHost };

// Not blocking. `host`: as many bytes as the part has, packed.
cl_int enqueue_part(const ClFunctions& cl, Way way, cl_command_queue queue, cl_mem mem, const wire::Part& part,
                    void* host, std::span<const cl_event> waits, cl_event* event);

}  // namespace gt::moves
