#include "optimizer-rt/pool/libc_entries.h"

#include <dlfcn.h>
#include <malloc.h>

#include <cstdlib>
#include <cstring>
#include <iterator>

#include "optimizer-rt/pool/huge_pages.h"
#include "optimizer-rt/pool/reused_blocks.h"
#include "optimizer-rt/pool/runtime.h"
#include "tracer/interpose/entry_patch.h"
#include "tracer/interpose/entry_paths.h"
#include "tracer/interpose/libc_alloc.h"
#include "traces/base/reentry.h"

namespace gt::opt {
namespace {

// libc's functions behind their patched entries, and who is told. Written before the entries are.
void (*g_leaving)(void*);
void (*g_free)(void*);
void* (*g_realloc)(void*, size_t);
size_t (*g_usable_size)(void*);

bool is_known(const void* p) { return reused_blocks.may_know(p) || huge_pages.may_know(p); }

// ::free and the others are our hooks: the library is linked with -Bsymbolic.
void free_entry(void* p) {
  if (runtime.owns(p)) return ::free(p);
  if (is_known(p)) g_leaving(p);
  g_free(p);
}
void* realloc_entry(void* p, size_t size) {
  if (runtime.owns(p)) return ::realloc(p, size);
  if (is_known(p)) g_leaving(p);
  return g_realloc(p, size);
}
size_t usable_size_entry(void* p) { return runtime.owns(p) ? ::malloc_usable_size(p) : g_usable_size(p); }

template <class Function>
void set(Function& slot, void* real) {
  slot = reinterpret_cast<Function>(real);
}

struct Entry {
  const char* name;
  void* hook;
  void (*set_real)(void* real);
};
const Entry g_entries[] = {
    {"free", reinterpret_cast<void*>(free_entry), [](void* real) { set(g_free, real); }},
    {"realloc", reinterpret_cast<void*>(realloc_entry), [](void* real) { set(g_realloc, real); }},
    {"malloc_usable_size", reinterpret_cast<void*>(usable_size_entry), [](void* real) { set(g_usable_size, real); }},
};

const Entry* find(const char* name) {
  for (const Entry& e : g_entries)
    if (std::strcmp(e.name, name) == 0) return &e;
  return nullptr;
}

// Our own hooks need not come by the entries, unless what they call is another allocator's. (Such a one may define
// libc's other names, too: __libc_free.)
void pass_entries() {
  void* const libc = interpose::real_dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (!libc) return;
  const auto calls_libc = [&](const char* name) { return interpose::next_symbol(name) == ::dlsym(libc, name); };
  if (calls_libc("free")) interpose::libc.free.set(reinterpret_cast<void*>(g_free));
  if (calls_libc("realloc")) interpose::libc.realloc.set(reinterpret_cast<void*>(g_realloc));
  ::dlclose(libc);
}

}  // namespace

bool guard_libc_entries(void (*leaving)(void* p)) noexcept {
  const char* plan = std::getenv(LibcEntriesVariable);
  if (!plan) return false;
  const Reentry inside;
  interpose::resolve_libc();
  const interpose::EntryHooks hooks{
      [](const char* name) {
        const Entry* e = find(name);
        return e ? e->hook : nullptr;
      },
      [](const char* name, void* real) {
        if (const Entry* e = find(name)) e->set_real(real);
      }};
  g_leaving = leaving;
  if (interpose::patch_entries(plan, hooks) != std::ssize(g_entries)) return false;
  pass_entries();
  return true;
}

}  // namespace gt::opt
