// Makes an encoded call: rebuilds the arguments in memory of our own, calls a real function,
// encodes its outputs.
//
// Used where calls arrive as bytes: the proxy, the replayer, tests. The bytes may come from a
// stranger: every array is as long as its count parameter says, texts end with a NUL, property
// lists end, output room is bounded by the arena; anything else is refused before the function is
// called. Host memory whose contents were not encoded is zeros. Ownership: everything that the
// rebuilt arguments point to belongs to the context's arena until clear(). A command that does not
// block may use it after the call returns, so clear() only when the command has ended. Thread
// safety: none; one context per thread.
#pragma once

#include "traces/api/fn_id.h"
#include "traces/api/invoke_context.h"
#include "traces/api/wire.h"

namespace gt::api {

// REQUIRES: `function` has the C type of `fn`, and the map's answers are valid for it.
Invoked invoke(FnId fn, ByteView inputs, void (*function)(), InvokeContext& context,
               VectorWriter& outputs);

}  // namespace gt::api
