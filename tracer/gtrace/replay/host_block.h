// Where the blocks of HostMemory come from: one call in this program, which a profile may name.
// Thread safety: host_block() from any thread; host_block_site() before there are others.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gt::tracer {

// Zeros that nobody has touched yet: a trace may name more than there is. To be given back by free(). nullptr: there is
// no memory.
void* host_block(size_t bytes);

// The return address of that call, less the program's load bias.
uint64_t host_block_site();

}  // namespace gt::tracer
