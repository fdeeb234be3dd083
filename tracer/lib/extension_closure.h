// Extension functions whose address differs between platforms.
//
// The first address of a function is called by its static wrapper directly. A second one (another
// vendor's) needs a wrapper that remembers it: a libffi closure, which passes the program's
// arguments on to the static wrapper with the address set aside for this call.
// Thread safety: wrapper_for() from any thread, one at a time; the others spin. What it gives stays for the rest of the
// process, and there is room for 512 closures.
#pragma once

#include "tracer/lib/extension_wrapper.h"

namespace gt::tracer {

// What the program gets for `function`. Falls back to `function` itself (unrecorded) when no
// closure can be made.
void* wrapper_for(const ExtensionWrapper& known, void* function);

// The real function of the extension call under way on this thread, when it came through a closure;
// else nullptr.
extern __thread void* t_closure_target __attribute__((tls_model("initial-exec")));

}  // namespace gt::tracer
