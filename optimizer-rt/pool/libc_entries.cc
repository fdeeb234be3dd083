#include "optimizer-rt/pool/libc_entries.h"

#include <dlfcn.h>
#include <malloc.h>

#include <cstdlib>
#include <cstring>
#include <iterator>

#include "optimizer-rt/pool/heap_room.h"
#include "optimizer-rt/pool/huge_pages.h"
#include "optimizer-rt/pool/reused_blocks.h"
#include "optimizer-rt/pool/runtime.h"
#include "tracer/interpose/entry_patch.h"
#include "tracer/interpose/entry_paths.h"
#include "tracer/interpose/libc_alloc.h"
#include "tracer/interpose/loaded_modules.h"
#include "traces/base/reentry.h"

namespace gt::opt {
namespace {

// libc's functions behind their patched entries, and who is told. Written before the entries are.
void (*g_leaving)(void*);
void (*g_free)(void*);
void* (*g_realloc)(void*, size_t);
size_t (*g_usable_size)(void*);
HeapRoom::Break g_break;
uint64_t g_libc_begin, g_libc_end;

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

// Its malloc's way to more heap. Others that come here have been asked by name.
bool is_libc(const void* address) {
  const auto at = reinterpret_cast<uint64_t>(address);
  return at >= g_libc_begin && at < g_libc_end;
}
void* sbrk_entry(intptr_t by) {
  return heap_room.is_open() ? heap_room.move(by, is_libc(__builtin_return_address(0))) : g_break.move(by);
}
int brk_entry(void* to) { return heap_room.is_open() ? heap_room.set(to) : g_break.set(to); }

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
    {"sbrk", reinterpret_cast<void*>(sbrk_entry), [](void* real) { set(g_break.move, real); }},
    {"brk", reinterpret_cast<void*>(brk_entry), [](void* real) { set(g_break.set, real); }},
};

const Entry* find(const char* name) {
  for (const Entry& e : g_entries)
    if (std::strcmp(e.name, name) == 0) return &e;
  return nullptr;
}

// How many of the functions have been given an entry.
int entries_set() {
  return (g_free != nullptr) + (g_realloc != nullptr) + (g_usable_size != nullptr) + (g_break.move != nullptr) +
         (g_break.set != nullptr);
}

// The heap may get room where it was asked for huge pages; not where libc itself sees to them.
void open_heap_room() {
  if (!g_break.move || !g_break.set || !huge_pages.is_open() || huge_pages.keeps()) return;
  interpose::for_each_module([](const interpose::ModuleInfo& m) {
    const auto sbrk_at = reinterpret_cast<uint64_t>(interpose::next_symbol("sbrk"));
    if (sbrk_at < m.base || sbrk_at >= m.end) return;
    g_libc_begin = m.base;
    g_libc_end = m.end;
  });
  if (g_libc_begin != 0) heap_room.open(g_break, &huge_pages);
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
  const interpose::EntryHooks hooks{[](const char* name) {
                                      const Entry* e = find(name);
                                      return e ? e->hook : nullptr;
                                    },
                                    [](const char* name, void* real) {
                                      if (const Entry* e = find(name)) e->set_real(real);
                                    }};
  g_leaving = leaving;
  const int patched = interpose::patch_entries(plan, hooks);
  if (patched != entries_set() || !g_free || !g_realloc || !g_usable_size) return false;
  pass_entries();
  open_heap_room();
  return true;
}

}  // namespace gt::opt
