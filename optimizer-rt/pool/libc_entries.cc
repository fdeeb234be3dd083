#include "optimizer-rt/pool/libc_entries.h"

#include <malloc.h>

#include <cstdlib>
#include <cstring>
#include <iterator>

#include "optimizer-rt/pool/runtime.h"
#include "tracer/interpose/entry_patch.h"
#include "tracer/interpose/libc_alloc.h"
#include "traces/base/reentry.h"

namespace gt::opt {
namespace {

// libc's functions behind their patched entries. Written before the entries are.
void (*g_free)(void*);
void* (*g_realloc)(void*, size_t);
size_t (*g_usable_size)(void*);

// ::free and the others are our hooks: the library is linked with -Bsymbolic.
void free_entry(void* p) { runtime.owns(p) ? ::free(p) : g_free(p); }
void* realloc_entry(void* p, size_t size) { return runtime.owns(p) ? ::realloc(p, size) : g_realloc(p, size); }
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

}  // namespace

bool guard_libc_entries() noexcept {
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
  return interpose::patch_entries(plan, hooks) == std::ssize(g_entries);
}

}  // namespace gt::opt
