#include "tracer/interpose/operators.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <iterator>
#include <new>

#include "tracer/interpose/libc_alloc.h"
#include "tracer/interpose/loaded_symbols.h"

namespace gt::interpose {

constinit std::atomic<Operators> operators{Operators::Unknown};

namespace {

using api::AllocFn;

static_assert(sizeof(size_t) == sizeof(unsigned long), "the names below say m for size_t");
// In the order of AllocFn, from New on.
constexpr const char* OperatorNames[] = {
    "_Znwm",
    "_Znam",
    "_ZnwmRKSt9nothrow_t",
    "_ZnamRKSt9nothrow_t",
    "_ZnwmSt11align_val_t",
    "_ZnamSt11align_val_t",
    "_ZnwmSt11align_val_tRKSt9nothrow_t",
    "_ZnamSt11align_val_tRKSt9nothrow_t",
    "_ZdlPv",
    "_ZdaPv",
    "_ZdlPvm",
    "_ZdaPvm",
    "_ZdlPvSt11align_val_t",
    "_ZdaPvSt11align_val_t",
    "_ZdlPvmSt11align_val_t",
    "_ZdaPvmSt11align_val_t",
    "_ZdlPvRKSt9nothrow_t",
    "_ZdaPvRKSt9nothrow_t",
    "_ZdlPvSt11align_val_tRKSt9nothrow_t",
    "_ZdaPvSt11align_val_tRKSt9nothrow_t",
};
constexpr auto FirstOperator = static_cast<size_t>(AllocFn::New);
static_assert(static_cast<size_t>(AllocFn::DeleteArrayAlignedNothrow) - FirstOperator + 1 ==
              std::size(OperatorNames));

// By operator, once they were looked for: to ask the dynamic linker takes its lock.
constinit std::atomic<void*> g_runtime_operators[std::size(OperatorNames)] = {};

// What the caller itself depends on, and so comes after it in the list: a plug-in may have brought the C++ runtime.
// (dlsym knows what is outside of the global scope only by handles that dlopen has made.)
void* callers_symbol(const char* name, const void* site) {
  Dl_info info;
  void* caller = nullptr;
  if (!dladdr1(site, &info, &caller, RTLD_DL_LINKMAP)) return nullptr;
  for (auto m = static_cast<const link_map*>(caller); m; m = m->l_next) {
    const void* found = m == own_module() ? nullptr : definition(*m, name);
    if (found) return const_cast<void*>(found);
  }
  return nullptr;
}

std::new_handler new_handler(const void* site) {
  using Get = std::new_handler (*)();
  constexpr const char* Name = "_ZSt15get_new_handlerv";
  void* found = next_symbol(Name);
  auto get = reinterpret_cast<Get>(found ? found : callers_symbol(Name, site));
  return get ? get() : nullptr;
}

}  // namespace

// Whoever comes before us among the modules comes before us in the global scope. The first call of an allocation
// function comes here, perhaps from within another interposer, under a lock of his that his dlopen and dlclose take,
// too: so the modules' own tables are read.
void find_operators() {
  const link_map* const ours = own_module();
  bool replaced = false;
  for (const link_map* m = first_module(); ours && m && m != ours && !replaced; m = m->l_next)
    replaced = std::ranges::any_of(OperatorNames, [m](const char* name) { return defines(*m, name); });
  operators.store(replaced ? Operators::Replaced : Operators::Ours, std::memory_order_release);
}

bool operators_step_aside() {
  resolve_libc();
  return operators.load(std::memory_order_acquire) == Operators::Replaced;
}

void* runtime_operator(AllocFn fn, const void* site) {
  const size_t i = static_cast<size_t>(fn) - FirstOperator;
  if (void* known = g_runtime_operators[i].load(std::memory_order_acquire)) return known;
  void* found = next_symbol(OperatorNames[i]);
  if (!found) return callers_symbol(OperatorNames[i], site);
  g_runtime_operators[i].store(found, std::memory_order_release);
  return found;
}

bool has_new_handler(const void* site) { return new_handler(site) != nullptr; }

void call_new_handler_or_throw(const void* site) {
  if (std::new_handler handler = new_handler(site)) return handler();
  using New = void* (*)(size_t);
  if (auto runtime_new = reinterpret_cast<New>(runtime_operator(AllocFn::New, site))) {
    runtime_new(
        DoomedBytes);  // throws; returns only if a handler was set meanwhile and found the memory
    return;
  }
  throw std::bad_alloc();  // no other C++ runtime in sight
}

}  // namespace gt::interpose
