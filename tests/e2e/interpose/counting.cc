// An injected library for tests: counts every memory call that the program makes, and prints them
// on request.
//
// count_alloc_report(fd) writes one line per function that was called: "name calls bytes failed
// module", where module is the file name of the module that made the last call. Tests find the
// function with dlsym.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>

#include "tracer/interpose/alloc_hooks.h"
#include "tracer/interpose/entry_paths.h"
#include "tracer/interpose/loaded_modules.h"
#include "tracer/interpose/real_library.h"
#include "tracer/interpose/threads.h"

namespace {

using gt::api::AllocFn;

constexpr size_t Functions = static_cast<size_t>(AllocFn::Count) - gt::api::FirstAllocFn;

constexpr const char* Names[Functions] = {
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "free",
    "cfree",
    "memalign",
    "aligned_alloc",
    "posix_memalign",
    "valloc",
    "pvalloc",
    "New",
    "NewArray",
    "NewNothrow",
    "NewArrayNothrow",
    "NewAligned",
    "NewArrayAligned",
    "NewAlignedNothrow",
    "NewArrayAlignedNothrow",
    "Delete",
    "DeleteArray",
    "DeleteSized",
    "DeleteArraySized",
    "DeleteAligned",
    "DeleteArrayAligned",
    "DeleteSizedAligned",
    "DeleteArraySizedAligned",
    "DeleteNothrow",
    "DeleteArrayNothrow",
    "DeleteAlignedNothrow",
    "DeleteArrayAlignedNothrow",
    "mmap",
    "mmap64",
    "mremap",
    "munmap",
    "malloc_usable_size",
    "strdup",
    "strndup",
    "wcsdup",
    "brk",
    "sbrk",
};

struct Tally {
  std::atomic<uint64_t> calls{0}, bytes{0}, failed{0};
  std::atomic<const void*> site{nullptr};
};
constinit Tally g_tally[Functions];

void count(AllocFn fn, bool failed, size_t size, const void* site) {
  Tally& t = g_tally[static_cast<size_t>(fn) - gt::api::FirstAllocFn];
  t.calls.fetch_add(1, std::memory_order_relaxed);
  t.bytes.fetch_add(size, std::memory_order_relaxed);
  t.failed.fetch_add(failed, std::memory_order_relaxed);
  t.site.store(site, std::memory_order_relaxed);
}

struct CountingClient {
  static void* allocate(AllocFn, size_t, size_t, const void*) { return nullptr; }
  static bool owns(const void*) { return false; }
  static void release(void*) {}
  static size_t usable_size(const void*) { return 0; }
  static void returned(AllocFn fn, const void* site, const void* made, size_t bytes, auto...) {
    count(fn, !made && bytes, bytes, site);
  }
  // Without free(NULL), which libc itself calls when threads end.
  static void releasing(AllocFn fn, const void* site, const void* p, auto...) {
    if (p) count(fn, false, 0, site);
  }
  static void entered(auto...) {}
  static void left(AllocFn fn, const void* site, const void* made, size_t bytes, auto) {
    count(fn, !made && bytes, bytes, site);
  }
};

const char* module_name(const void* site) {
  Dl_info info;
  if (!site || !dladdr(site, &info) || !info.dli_fname) return "?";
  const char* slash = std::strrchr(info.dli_fname, '/');
  return slash ? slash + 1 : info.dli_fname;
}

}  // namespace

GT_DEFINE_ALLOC_HOOKS(CountingClient)
GT_DEFINE_THREAD_HOOKS()
GT_DEFINE_ENTRY_PATHS()

extern "C" {

__attribute__((visibility("default"))) void count_alloc_reset() {
  for (Tally& t : g_tally) {
    t.calls = 0;
    t.bytes = 0;
    t.failed = 0;
  }
}

__attribute__((visibility("default"))) void count_alloc_report(int fd) {
  const gt::Reentry guard;
  for (size_t i = 0; i < Functions; ++i) {
    const Tally& t = g_tally[i];
    if (t.calls == 0) continue;
    char line[512];
    const int n = std::snprintf(line, sizeof line, "%s %lu %lu %lu %s\n", Names[i], t.calls.load(),
                                t.bytes.load(), t.failed.load(), module_name(t.site.load()));
    if (write(fd, line, static_cast<size_t>(n)) < 0) return;
  }
}

// Calls on behalf of a driver, as the tests need them.
__attribute__((visibility("default"))) void as_driver(void (*f)(void*), void* arg) {
  const gt::Reentry guard;
  f(arg);
}
__attribute__((visibility("default"))) int thread_is_muted() { return gt::t_flags.muted; }

__attribute__((visibility("default"))) const char* real_library(const char* symbol, void** found) {
  *found = gt::interpose::real_symbol(symbol);
  return *found ? gt::interpose::real_library_path() : "";
}
__attribute__((visibility("default"))) int modules_loaded_since() {
  return gt::interpose::modules_changed();
}
__attribute__((visibility("default"))) void print_modules() {
  const gt::Reentry guard;
  gt::interpose::for_each_module([](const gt::interpose::ModuleInfo& m) {
    std::printf("%lx %lx %lx %s %s\n", m.base, m.end, m.bias, m.build_id[0] ? m.build_id : "-",
                m.path);
  });
  std::fflush(stdout);
}

// One versioned function, so that the library is shaped like the real injected ones.
__attribute__((visibility("default"))) int clGetPlatformIDs(unsigned, void*, unsigned* n) {
  if (n) *n = 4711;  // what no real loader answers
  return 0;
}
}
