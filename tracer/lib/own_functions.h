// OpenCL and allocation functions that are linked into the program: their entries are led to our wrappers.
#pragma once

namespace gt::tracer {

// As the launcher planned it (GTRACE_ENTRY_PLAN); nothing without a plan or when nothing is recorded.
// REQUIRES: the process has one thread. Called once, by our constructor.
void patch_own_functions();

}  // namespace gt::tracer
