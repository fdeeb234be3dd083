// What OpenCL C's built-in functions do through their pointer, image and pipe arguments.
#pragma once

#include <string_view>

#include "traces/kernels/kernel_args.h"

namespace gt::kernels {

// `index`: which argument. `to_const`: its declared type points to const. Names that are not known
// here get the upper bound that the type allows.
Access builtin_access(std::string_view function, unsigned index, bool to_const);

}  // namespace gt::kernels
