// What we hold in the program's contexts without its notice: let go of when the program gives its last reference back,
// and left out of the count that it reads until then (contexts.h says why).
// Thread safety: all functions. No lock is held during a driver call, save while a platform is weighed for the first
// time.
#pragma once

#include <CL/cl.h>

#pragma GCC visibility push(hidden)

namespace gt::opt {

// Call before the real release.
void context_releasing(cl_context context) noexcept;
// What our buffers and queues add to the context's reference count.
cl_uint hidden_references(cl_context context) noexcept;

}  // namespace gt::opt

#pragma GCC visibility pop
