// PoCL with some functions changed: an ICD that gives out PoCL's own platform, after change() has put other functions
// in the table that all of its handles begin with. What is not changed goes to PoCL as ever.
//
// The table is the process's: whoever uses PoCL there beside this driver has the changed functions, too.
#pragma once

#include <CL/cl_icd.h>

#include <cstring>

namespace gt::wrapped {

extern cl_icd_dispatch pocl;  // its functions as they were

// Once, before the platform is given out. Each wrapper has one.
void change(cl_icd_dispatch& table, cl_platform_id platform);

// What a function that tells of objects answers.
inline cl_int answer(const void* found, size_t bytes, size_t size, void* value, size_t* size_ret) {
  if (size_ret) *size_ret = bytes;
  if (value && size < bytes) return CL_INVALID_VALUE;
  if (value) std::memcpy(value, found, bytes);
  return CL_SUCCESS;
}

}  // namespace gt::wrapped
