// What the pool asks of the system, as functions that tests replace: to see what is asked, and to refuse it.
// None allocates; all leave errno as the call did. Thread safety: the functions; replacing them is not safe.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace gt::opt {

struct SystemMemory {
  void* (*map)(size_t bytes, int protection);  // private, zero, not reserved; MAP_FAILED
  int (*protect)(void* at, size_t bytes, int protection);
  int (*advise)(void* at, size_t bytes, int advice);
  int (*lock)(const void* at, size_t bytes);
  int (*unlock)(const void* at, size_t bytes);
};
extern SystemMemory system_memory;

}  // namespace gt::opt
