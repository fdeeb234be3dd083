#include "tracer/interpose/dynamic_linker.h"

#include <atomic>
#include <cstring>

#include "tracer/interpose/libc_alloc.h"
#include "tracer/interpose/loaded_symbols.h"
#include "traces/base/reentry.h"

namespace gt::interpose {

namespace {

struct Failure {
  char* text = nullptr;  // libc's memory; until the next one, for the program may look at it as long
  bool pending = false;
};
__thread Failure t_failure __attribute__((tls_model("initial-exec")));

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

void fail_as_linker(const char* subject, const char* what, const char* detail) {
  const Reentry guard;
  forget_failure();
  real_dlerror();  // what the C library has to say is older
  const size_t a = std::strlen(subject), b = std::strlen(what), c = std::strlen(detail);
  auto* text = static_cast<char*>(libc.malloc(a + b + c + 3));
  if (!text) return;
  std::memcpy(text, subject, a);
  std::memcpy(text + a, ": ", 2);
  std::memcpy(text + a + 2, what, b);
  std::memcpy(text + a + 2 + b, detail, c + 1);
  libc.free(t_failure.text);
  t_failure = {text, true};
}

void forget_failure() { t_failure.pending = false; }

char* program_dlerror() {
  if (!t_failure.pending) return real_dlerror();
  t_failure.pending = false;
  return t_failure.text;
}

}  // namespace gt::interpose
