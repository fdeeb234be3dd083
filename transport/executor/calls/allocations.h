// Blocks of memory that have one address here and at the client: clSVMAlloc, and the three functions of unified shared
// memory. A block gets a name; its address is the answer.
// Thread safety: none; the control channel uses it.
#pragma once

#include <span>

#include "traces/api/decode.h"
#include "transport/executor/base/commands.h"

namespace gt::exec {

// Is it one of those that give a block, and is it carried out by allocate()?
bool allocates_block(api::FnId fn);

// REQUIRES: check_call() has passed the arguments. `outputs`: of the call, when it succeeds.
cl_int allocate(api::FnId fn, const wire::Call& call, std::span<const api::DecodedArg> args, Commands& commands,
                api::VectorWriter& outputs);

}  // namespace gt::exec
