// An injected library whose client does nothing: what the hooks themselves cost.
#include "tracer/interpose/alloc_hooks.h"
#include "tracer/interpose/entry_paths.h"

namespace {

struct NoClient {
  static void* allocate(gt::api::AllocFn, size_t, size_t, const void*) { return nullptr; }
  static bool owns(const void*) { return false; }
  static void release(void*) {}
  static size_t usable_size(const void*) { return 0; }
  static void returned(auto...) {}
  static void releasing(auto...) {}
  static void entered(auto...) {}
  static void left(auto...) {}
};

}  // namespace

GT_DEFINE_ALLOC_HOOKS(NoClient)
GT_DEFINE_ENTRY_PATHS()

extern "C" __attribute__((visibility("default"))) int clGetPlatformIDs(unsigned, void*, unsigned*) {
  return -1001;
}
