// Every OpenCL function of the virtual platform, those of extensions included, under its own name. They may throw a
// Failure (object.h): programs come through the entries (entry.h).
#pragma once

#include "traces/api/table.h"

namespace gt::virt::fn {

#define GT_CL_EXPORT(NAME, RET, PARAMS, ARGS, SINCE) RET NAME PARAMS;
#define GT_CL_EXTENSION GT_CL_EXPORT
#include "traces/api/gen/exports.inc"
#undef GT_CL_EXPORT
#undef GT_CL_EXTENSION

}  // namespace gt::virt::fn
