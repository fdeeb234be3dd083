/* What the logged OpenCL functions are written with: one letter for each kind of argument. */
#ifndef TESTS_ORACLE_DUMB_CL_H
#define TESTS_ORACLE_DUMB_CL_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#ifndef CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#endif
#include <CL/cl.h>

#include "tests/oracle/line.h"

#define START(function)                                                     \
  static __typeof__(&function) next;                                        \
  if (next == NULL) next = (__typeof__(&function))next_function(#function); \
  struct line l;                                                            \
  line_begin(&l, #function, __builtin_return_address(0))
#define N(name) line_number(&l, #name, (long long)name)
#define O(name) line_object(&l, #name, (const void*)name)
#define P(name) line_pointer(&l, #name, (const void*)name)
#define LIST(name, count) line_objects(&l, #name, (const void* const*)name, count)
#define SIZES(name, count) line_numbers(&l, #name, name, count)
#define WAITS() N(num_events_in_wait_list), LIST(event_wait_list, num_events_in_wait_list)
#define EVENT() line_object(&l, "event", event != NULL ? *event : NULL)
#define ERROR() line_number(&l, "errcode_ret", errcode_ret != NULL ? *errcode_ret : 0)
#define RETURN(type)                       \
  line_number(&l, "return", (long long)r); \
  line_end(&l);                            \
  return (type)r
#define RETURN_OBJECT()         \
  ERROR();                      \
  line_object(&l, "return", r); \
  line_end(&l);                 \
  return r

#endif
