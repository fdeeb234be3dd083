#include "tracer/lib/extension_closure.h"

#include <atomic>

#include "tracer/lib/real_calls.h"
#include "traces/base/reentry.h"

namespace gt::tracer {

__thread void* t_closure_target __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

// One per (function, address) beyond the first address; a handful in any real program.
struct Closure {
  const ExtensionWrapper* known;
  void* target;
  void* code;
};
constexpr int MaxClosures = 512;
Closure g_closures[MaxClosures];
int g_closure_count = 0;
std::atomic_flag g_lock = ATOMIC_FLAG_INIT;

void run_closure(ffi_cif* cif, void* result, void** args, void* user) {
  const auto* closure = static_cast<const Closure*>(user);
  t_closure_target = closure->target;
  ffi_call(cif, FFI_FN(closure->known->wrapper), result, args);
}

void* make_closure(const ExtensionWrapper& known, void* function) {
  for (int i = 0; i < g_closure_count; ++i) {
    if (g_closures[i].known == &known && g_closures[i].target == function)
      return g_closures[i].code;
  }
  const Signature& signature = known.signature();
  if (g_closure_count == MaxClosures || !signature.ok) return function;
  const Reentry guard;
  Closure& closure = g_closures[g_closure_count];
  void* code = nullptr;
  auto* memory = static_cast<ffi_closure*>(ffi_closure_alloc(sizeof(ffi_closure), &code));
  if (!memory) return function;
  closure = {&known, function, code};
  if (ffi_prep_closure_loc(memory, const_cast<ffi_cif*>(&signature.cif), run_closure, &closure,
                           code) != FFI_OK) {
    ffi_closure_free(memory);
    return function;
  }
  ++g_closure_count;
  return code;
}

}  // namespace

void* wrapper_for(const ExtensionWrapper& known, void* function) {
  while (g_lock.test_and_set(std::memory_order_acquire)) {
  }
  void* first = g_real[static_cast<size_t>(known.fn)].load(std::memory_order_relaxed);
  if (!first) set_real(known.fn, first = function);
  void* wrapper = first == function ? known.wrapper : make_closure(known, function);
  g_lock.clear(std::memory_order_release);
  return wrapper;
}

}  // namespace gt::tracer
