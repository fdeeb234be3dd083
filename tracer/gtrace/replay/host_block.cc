#include "tracer/gtrace/replay/host_block.h"

#include <dlfcn.h>

#include <cstdlib>

namespace gt::tracer {

namespace {

using Allocate = void* (*)(size_t, size_t);

uintptr_t g_returns_to = 0;

// Called in the place of the C library's function: it learns who calls.
[[gnu::noinline]] void* learn(size_t, size_t) {
  g_returns_to = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  return nullptr;
}

Allocate volatile g_allocate = &std::calloc;

}  // namespace

[[gnu::noinline]] void* host_block(size_t bytes) {
  void* memory = g_allocate(1, bytes);
  asm volatile("" : "+r"(memory));  // the call is one, and returns here
  return memory;
}

uint64_t host_block_site() {
  g_allocate = &learn;
  (void)host_block(1);
  g_allocate = &std::calloc;
  Dl_info info{};
  if (!::dladdr(reinterpret_cast<void*>(g_returns_to), &info)) return 0;
  return g_returns_to - reinterpret_cast<uintptr_t>(info.dli_fbase);
}

}  // namespace gt::tracer
