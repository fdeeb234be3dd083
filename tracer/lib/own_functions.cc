#include "tracer/lib/own_functions.h"

#include <malloc.h>

#include <cstdlib>
#include <cstring>

#include "tracer/interpose/entry_patch.h"
#include "tracer/interpose/libc_alloc.h"
#include "tracer/lib/layer.h"
#include "tracer/lib/real_calls.h"
#include "tracer/lib/recorder.h"
#include "traces/api/api.h"
#include "traces/base/reentry.h"

namespace gt::tracer {

namespace {

// Our own definitions: the library is linked with -Bsymbolic, so these names do not lead to the program's.
struct Allocation {
  const char* name;
  void* hook;
  void (*set)(void* real);
};

#define GT_ALLOCATION(NAME, SLOT) \
  {#NAME, reinterpret_cast<void*>(&::NAME), [](void* real) { interpose::libc.SLOT.set(real); }}
const Allocation g_allocations[] = {
    GT_ALLOCATION(malloc, malloc),
    GT_ALLOCATION(calloc, calloc),
    GT_ALLOCATION(realloc, realloc),
    GT_ALLOCATION(free, free),
    GT_ALLOCATION(memalign, memalign),
    GT_ALLOCATION(aligned_alloc, aligned_alloc),
    GT_ALLOCATION(posix_memalign, posix_memalign),
    GT_ALLOCATION(malloc_usable_size, usable_size),
};

const LayerSlot* find_opencl(const char* name) {
  if (name[0] != 'c' || name[1] != 'l') return nullptr;
  for (const LayerSlot& slot : layer_slots()) {
    if (api::function_name(api::number(slot.fn)) == std::string_view(name)) return &slot;
  }
  return nullptr;
}

const Allocation* find_allocation(const char* name) {
  for (const Allocation& a : g_allocations) {
    if (std::strcmp(a.name, name) == 0) return &a;
  }
  return nullptr;
}

void* hook_for(const char* name) {
  if (const LayerSlot* slot = find_opencl(name)) return slot->wrapper;
  const Allocation* allocation = find_allocation(name);
  return allocation ? allocation->hook : nullptr;
}

void set_real_function(const char* name, void* function) {
  if (const LayerSlot* slot = find_opencl(name)) return set_real(slot->fn, function);
  if (const Allocation* allocation = find_allocation(name)) allocation->set(function);
}

}  // namespace

void patch_own_functions() {
  const char* plan = getenv(interpose::EntryPlanVariable);
  if (!plan || !recording()) return;
  const Reentry guard;
  interpose::resolve_libc();  // first, or its answers would replace the program's
  interpose::patch_entries(plan, {hook_for, set_real_function});
}

}  // namespace gt::tracer
