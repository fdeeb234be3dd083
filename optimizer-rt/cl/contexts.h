// The program's contexts, and the pins that we hold in them.
//
// Pinning in place takes a buffer in some context, and a buffer keeps its context alive. The
// program must not notice: so the references that the program itself holds are counted here; when
// it gives its last one back, our buffers and queues go first; and what they add to
// CL_CONTEXT_REFERENCE_COUNT is subtracted from the answer (context_end.h). (A context of our own would need no
// counting, but costs a second of start-up and hundreds of megabytes on some devices.) Memory
// pinned through one context is fast in all of its platform's, so a pin serves whoever transfers
// there next; when its context goes, the next transfer pins again through its own. To the drivers of
// other platforms it is ordinary memory.
//
// Invariants: a token is valid from pin() until its context's last reference or unpin(); an entry
// exists while the program holds references to its context. Thread safety: all functions. The lock
// is never held during a driver call.
#pragma once

#include <CL/cl.h>

#include "optimizer-rt/pool/pinned_pool.h"

#pragma GCC visibility push(hidden)

namespace gt::opt {

void context_created(cl_context context) noexcept;
void context_retained(cl_context context) noexcept;
// The program gives a reference back: was it its last one? False, too, of a context that is not known.
bool last_reference_goes(cl_context context) noexcept;
// REQUIRES: its last reference has gone.
void drop_pins(cl_context context) noexcept;
// Does the program hold references to it? (A context that nobody saw being made is not known.)
bool is_known(cl_context context) noexcept;
cl_uint pins_in(cl_context context) noexcept;

enum class PinResult { Done, Refused, UnknownContext, TableFull };
PinResult pin(cl_context context, void* base, size_t bytes, PinToken* token) noexcept;
void unpin(PinToken token) noexcept;
enum class PinState { Gone, Here, Elsewhere };
PinState pin_state(PinToken token, cl_context context) noexcept;

}  // namespace gt::opt

#pragma GCC visibility pop
