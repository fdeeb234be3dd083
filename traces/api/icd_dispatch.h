// What the table knows of ICD loaders and the installed headers, which may be of OpenCL 3.0, do not: the functions that
// loaders export, and the table that handles begin with.
#pragma once

#include <CL/cl_icd.h>

#include <cstddef>
#include <type_traits>

#include "traces/api/table.h"

#define GT_CL_EXPORT(NAME, RET, PARAMS, ARGS, SINCE) extern "C" RET CL_API_CALL NAME PARAMS;
#define GT_CL_EXTENSION(NAME, RET, PARAMS, ARGS, SINCE)
#include "traces/api/gen/exports.inc"
#undef GT_CL_EXPORT
#undef GT_CL_EXTENSION

namespace gt::api {

struct Dispatch31 : cl_icd_dispatch {
  FnPointer<FnId::clGetKernelSuggestedLocalWorkSize> clGetKernelSuggestedLocalWorkSize;
};
template <class T>
concept HasAll = requires { &T::clGetKernelSuggestedLocalWorkSize; };
// As of OpenCL 3.1. A driver of an older version may have a shorter one.
using IcdDispatch = std::conditional_t<HasAll<cl_icd_dispatch>, cl_icd_dispatch, Dispatch31>;

// The place of the function that headers of OpenCL 3.0 lack, with the table taken as an array of pointers.
constexpr size_t LastIcdSlot = sizeof(IcdDispatch) / sizeof(void*) - 1;
static_assert(sizeof(Dispatch31) == sizeof(cl_icd_dispatch) + sizeof(void*));

}  // namespace gt::api
