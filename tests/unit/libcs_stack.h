// Where the calling thread's stack lies, as the C library says.
#pragma once

#include <pthread.h>

#include "tracer/lib/own_stack.h"

inline gt::tracer::Stack libcs_stack() {
  pthread_attr_t attributes;
  void* low = nullptr;
  size_t size = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  return {reinterpret_cast<uint64_t>(low), reinterpret_cast<uint64_t>(low) + size};
}
