// Functions of provisional extensions whose parameters have changed since our table was made.
//
// A program that asks for one by name has the form that the driver has. When that is not ours, a wrapper of ours would
// lose arguments, so the program gets the driver's own function, and its calls are not in the trace.
// Thread safety: any thread. Cost: queries to the driver, for the few names that matter.
#pragma once

#include <CL/cl.h>

namespace gt::tracer {

// Has a device of this platform (of any, when NULL) an extension of a later form than ours, which `name` belongs to?
bool has_another_form(cl_platform_id platform, const char* name);

}  // namespace gt::tracer
