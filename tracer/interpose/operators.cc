#include "tracer/interpose/operators.h"

#include <dlfcn.h>
#include <link.h>

#include <new>

#include "tracer/interpose/libc_alloc.h"
#include "tracer/interpose/loaded_symbols.h"

namespace gt::interpose {

namespace {

using api::AllocFn;

constexpr auto FirstOperator = static_cast<size_t>(AllocFn::New);

// By operator, once they were looked for: to ask the dynamic linker takes its lock.
constinit std::atomic<void*> g_runtime_operators[OperatorCount] = {};

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
