// What test programs say: a call that failed ends them, and a line tells whether what they looked at is right.
#pragma once

#include <CL/cl.h>

#include <cstdio>
#include <cstdlib>

inline void check(cl_int code, const char* what, int line) {
  if (code == CL_SUCCESS) return;
  std::fprintf(stderr, "line %d: %s: %d\n", line, what, code);
  std::exit(1);
}
#define CHECK(call) check(call, #call, __LINE__)

inline void expect(bool good, const char* what) { std::printf("%s: %s\n", what, good ? "yes" : "NO"); }
