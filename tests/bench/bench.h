// What the programs that measure have in common: a call that failed ends them, and their clock.
#pragma once

#include <CL/cl.h>
#include <errno.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

inline void check(cl_int code, const char* what) {
  if (code == CL_SUCCESS) return;
  std::fprintf(stderr, "%s: %s: error %d\n", program_invocation_short_name, what, code);
  std::exit(4);
}

inline double now_us() {
  using namespace std::chrono;
  return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}
