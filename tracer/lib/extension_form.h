// Functions of provisional extensions whose parameters have changed (traces/api/later_forms.h).
//
// A program that asks for one by name has the form that the driver has. Of a form that is not the table's there are
// wrappers of their own (later_wrappers.h). Where the table's is the later one there are none: the program gets the
// driver's own function, and its calls are not in the trace.
// Thread safety: any thread. Cost: queries to the driver, for the few names that matter.
#pragma once

#include "traces/api/table.h"

namespace gt::tracer {

enum class ExtensionForm { Table, Later, Earlier };
// Of a function, as the devices of this platform (of any, when NULL) have it.
ExtensionForm form_of(cl_platform_id platform, api::FnId fn);

}  // namespace gt::tracer
