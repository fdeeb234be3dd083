// An injected library whose client does nothing: what the hooks themselves cost.
#include "tracer/interpose/alloc_hooks.h"
#include "tracer/interpose/doors.h"

namespace {

struct NoClient {
  static void* allocate(gt::api::AllocFn, size_t, size_t, const void*) { return nullptr; }
  static bool owns(const void*) { return false; }
  static void release(void*) {}
  static size_t usable_size(const void*) { return 0; }
  static void allocated(gt::api::AllocFn, void*, size_t, size_t, const void*) {}
  static void resized(gt::api::AllocFn, void*, void*, size_t, const void*) {}
  static void releasing(gt::api::AllocFn, void*, size_t, const void*) {}
};

}  // namespace

GT_DEFINE_ALLOC_HOOKS(NoClient)
GT_DEFINE_DOORS()

extern "C" __attribute__((visibility("default"))) int clGetPlatformIDs(unsigned, void*, unsigned*) {
  return -1001;
}
