// PoCL with some functions changed: an ICD that gives out PoCL's own platform, after change() has put other functions
// in the table that all of its handles begin with. What is not changed goes to PoCL as ever.
//
// The table is the process's: whoever uses PoCL there beside this driver has the changed functions, too.
#pragma once

#include <CL/cl_icd.h>

namespace gt::wrapped {

extern cl_icd_dispatch pocl;  // its functions as they were

// Once, before the platform is given out. Each wrapper has one.
void change(cl_icd_dispatch& table, cl_platform_id platform);

}  // namespace gt::wrapped
