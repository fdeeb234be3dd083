// An injected library that serves every other request of the program from memory of its own: what
// the optimizer's pools do, in the worst mixture. Its memory is dirty when it is given out and when
// it was given back.
#include <atomic>
#include <cstring>

#include "tracer/interpose/alloc_hooks.h"
#include "tracer/interpose/entry_paths.h"
#include "tracer/interpose/raw_memory.h"
#include "tracer/interpose/threads.h"

namespace {

using gt::api::AllocFn;

constexpr size_t PoolBytes = size_t{8} << 30, HeaderBytes = 16, MaxBytes = 32 << 20;
constinit std::atomic<uintptr_t> g_base{0};
constinit std::atomic<size_t> g_used{0};
constinit std::atomic<unsigned> g_requests{0};

uintptr_t base() {
  uintptr_t known = g_base.load();
  if (known) return known;
  void* p = gt::interpose::raw_mmap(nullptr, PoolBytes, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return 0;
  if (g_base.compare_exchange_strong(known, reinterpret_cast<uintptr_t>(p)))
    return reinterpret_cast<uintptr_t>(p);
  gt::interpose::raw_munmap(p, PoolBytes);
  return known;
}

struct PoolClient {
  static void* allocate(AllocFn, size_t size, size_t align, const void*) {
    if (size > MaxBytes || g_requests.fetch_add(1) % 2) return nullptr;
    if (align < HeaderBytes) align = HeaderBytes;
    const size_t whole = (size + align + HeaderBytes + 15) & ~size_t{15};
    const size_t at = g_used.fetch_add(whole);
    if (!base() || at + whole > PoolBytes) return nullptr;
    const uintptr_t block = (base() + at + HeaderBytes + align - 1) & ~(align - 1);
    reinterpret_cast<size_t*>(block)[-1] = size;
    return std::memset(reinterpret_cast<void*>(block), 0xdd, size);
  }
  static bool owns(const void* p) {
    return reinterpret_cast<uintptr_t>(p) - g_base.load() < PoolBytes && g_base.load();
  }
  static void release(void* p) { std::memset(p, 0xee, usable_size(p)); }
  static size_t usable_size(const void* p) { return static_cast<const size_t*>(p)[-1]; }
  static void returned(auto...) {}
  static void releasing(auto...) {}
  static void entered(auto...) {}
  static void left(auto...) {}
};

}  // namespace

GT_DEFINE_ALLOC_HOOKS(PoolClient)
GT_DEFINE_THREAD_HOOKS()
GT_DEFINE_ENTRY_PATHS()

extern "C" __attribute__((visibility("default"))) int clGetPlatformIDs(unsigned, void*, unsigned*) {
  return -1001;
}

// How many blocks of the program's came from here: a test in which none did proves nothing.
extern "C" __attribute__((visibility("default"))) unsigned pool_requests() {
  return g_requests.load() / 2;
}
