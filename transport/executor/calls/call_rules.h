// Which calls a client may make, and what must hold of their arguments before a driver sees them.
//
// What may be called follows from the table: nothing that waits, that leaves or takes addresses (callbacks, mapped
// memory, host memory that outlives the call), that counts references (the client does), or that has a message of
// its own (launches, transfers, builds, queries of devices). Addresses of shared virtual memory may be given: they must
// lie in a block of the session. An argument of a kernel may be set, so that the driver says what it thinks of its
// size: one that is a value, or whose kind the driver does not tell.
// Thread safety: no state.
#pragma once

#include <span>

#include "traces/api/decode.h"
#include "transport/executor/base/objects.h"

namespace gt::exec {

bool may_call(api::FnId fn);

// CL_SUCCESS, or the error that the call is answered with without being made.
cl_int check_call(api::FnId fn, std::span<const api::DecodedArg> args, Objects& objects);

// The value of a parameter that is one number (or handle); 0 when it is none.
uint64_t value_of(std::span<const api::DecodedArg> args, int param);

}  // namespace gt::exec
