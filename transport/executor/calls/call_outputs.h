// The encoded outputs of calls (traces/api/wire.h): the handles in them, the error, and outputs of calls not made.
// Thread safety: no state.
#pragma once

#include <functional>

#include <CL/cl.h>

#include "traces/api/fn_id.h"
#include "traces/api/roles.h"
#include "traces/base/bytes.h"

namespace gt::exec {

// A handle in outputs. `made`: the call made it (else it tells of one that exists).
struct OutHandle {
  api::ObjectKind kind;
  uint64_t value;
  bool made;
  bool returned;  // it is the call's result
};

// REQUIRES: `outputs` is what api::invoke gave. `rename` says what takes the handle's place.
void rename_handles(api::FnId fn, Bytes& outputs, const std::function<uint64_t(const OutHandle&)>& rename);

// What the call said; for functions that return a handle, errcode_ret.
cl_int code_of(api::FnId fn, ByteView outputs);

// The outputs of a call that failed with `code`.
Bytes failed_outputs(api::FnId fn, cl_int code);

}  // namespace gt::exec
