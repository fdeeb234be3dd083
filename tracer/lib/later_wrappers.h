// Wrappers of extension functions whose later form a driver has (extension_form.h): the program calls that form, and
// the call is recorded in the table's. Properties go to the driver and are not recorded.
//
//   program ──► later wrapper ──► traced<F>(without properties) ──► forward ──► the driver's function, with properties
//
// Thread safety: any thread.
#pragma once

#include "tracer/lib/extension_wrapper.h"

namespace gt::tracer {

// nullptr: `fn` has no later form.
const ExtensionWrapper* find_later_wrapper(api::FnId fn);

}  // namespace gt::tracer
