// What the driver knows of the arguments of kernels that have no source.
#pragma once

#include "tracer/lib/traced.h"

namespace gt::tracer {

template <>
cl_kernel call_real<FnId::clCreateKernel, cl_kernel>(cl_program, const char*, cl_int*);
template <>
cl_kernel call_real<FnId::clCloneKernel, cl_kernel>(cl_kernel, cl_int*);

// Asks the driver, within the call that made `kernel`, and records the answer. Nothing when the
// kernel's program has a source, which tells more, or when the driver does not know. Cost: one
// question where there is a source, five an argument where there is none.
void record_kernel_args(cl_kernel kernel);

}  // namespace gt::tracer
