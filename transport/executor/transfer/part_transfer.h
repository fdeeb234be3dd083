// One command that moves packed bytes to or from a part of a memory object, or of shared virtual memory.
// Thread safety: no state.
#pragma once

#include <span>

#include "transport/copy/region.h"
#include "transport/executor/base/objects.h"

namespace gt::exec {

using copy::Way;

// Fills in the pitches that were left to their defaults, and checks what can be checked without the driver: that the
// part fits the kind of object and lies inside it, and that its packed size is `bytes`.
cl_int check_part(const Object& mem, uint64_t bytes, copy::Region& part);

// Not blocking, by a thread of the session's, in its turn. `host`: as many bytes as the part has, packed.
cl_int enqueue_part(Session& session, Way way, const Queue& queue, const Memory& memory, const copy::Region& part,
                    void* host, std::span<const cl_event> waits, cl_event* event);

}  // namespace gt::exec
