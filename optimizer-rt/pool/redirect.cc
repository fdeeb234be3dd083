// The allocation hooks of the injected optimizer: planned allocations come from the pools, all
// others from libc.
#include <cstdlib>

#include "optimizer-rt/pool/libc_entries.h"
#include "optimizer-rt/pool/runtime.h"
#include "tracer/interpose/alloc_hooks.h"
#include "tracer/interpose/doors.h"

namespace gt::opt {
namespace {

struct PoolClient {
  static void* allocate(interpose::AllocFn, size_t size, size_t align, const void* site) {
    return runtime.allocate(size, align, site);
  }
  static bool owns(const void* p) { return runtime.owns(p); }
  static void release(void* p) { runtime.release(p); }
  static size_t usable_size(const void* p) { return runtime.pool_of(p)->usable_size(p); }
  static void returned(auto...) {}
  static void releasing(interpose::AllocFn, const void*, const void* p, auto...) {
    if (runtime.owns(p)) t_program_releases = true;
  }
  static void entered(auto...) {}
  static void left(auto...) {}
};

__attribute__((constructor)) void open_runtime() {
  runtime.open();
  if (runtime.serves() && guard_libc_entries()) runtime.set_known_to_libc();
}

}  // namespace
}  // namespace gt::opt

GT_DEFINE_ALLOC_HOOKS(gt::opt::PoolClient)
GT_DEFINE_DOORS()
