#include "tracer/interpose/dynamic_linker.h"

#include <atomic>

#include "tracer/interpose/loaded_symbols.h"

namespace gt::interpose {

namespace {

const void* find_behind_us(const char* name) {
  const link_map* const ours = own_module();
  for (const link_map* m = ours ? ours->l_next : nullptr; m; m = m->l_next)
    if (const void* found = definition(*m, name)) return found;
  for (const link_map* m = first_module(); m && m != ours; m = m->l_next)
    if (const void* found = definition(*m, name)) return found;
  return nullptr;
}

template <class Function>
Function find(std::atomic<Function>& known, const char* name) {
  Function function = known.load(std::memory_order_acquire);
  if (function) return function;
  function = reinterpret_cast<Function>(const_cast<void*>(find_behind_us(name)));
  known.store(function, std::memory_order_release);
  return function;
}

constinit std::atomic<Dlopen> g_dlopen{nullptr};
constinit std::atomic<Dlmopen> g_dlmopen{nullptr};
constinit std::atomic<Dlsym> g_dlsym{nullptr};
constinit std::atomic<Dlvsym> g_dlvsym{nullptr};
constinit std::atomic<int (*)(void*)> g_dlclose{nullptr};
constinit std::atomic<char* (*)()> g_dlerror{nullptr};

// Later other threads may unload the modules that are walked over.
__attribute__((constructor(102))) void find_early() {
  dlopen_function(), dlmopen_function(), dlsym_function(), dlvsym_function();
  find(g_dlclose, "dlclose");
  find(g_dlerror, "dlerror");
}

}  // namespace

Dlopen dlopen_function() { return find(g_dlopen, "dlopen"); }
Dlmopen dlmopen_function() { return find(g_dlmopen, "dlmopen"); }
Dlsym dlsym_function() { return find(g_dlsym, "dlsym"); }
Dlvsym dlvsym_function() { return find(g_dlvsym, "dlvsym"); }

void* real_dlopen(const char* path, int flags) { return dlopen_function()(path, flags); }
void* real_dlsym(void* handle, const char* name) { return dlsym_function()(handle, name); }
int real_dlclose(void* handle) { return find(g_dlclose, "dlclose")(handle); }
char* real_dlerror() { return find(g_dlerror, "dlerror")(); }

}  // namespace gt::interpose
