// The functions that a program brings itself and that a recording is about: what becomes of each.
#pragma once

#include <string>

#include "tracer/interpose/entry_plan.h"

namespace gt::tracer {

// OpenCL and allocation functions that are linked into `binary`. Nothing for a file that cannot be preloaded into, and
// no OpenCL ones when they are an ICD loader's: that lets us in as a layer.
interpose::EntryPlan plan_own_functions(const std::string& binary);

}  // namespace gt::tracer
