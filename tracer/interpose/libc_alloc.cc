#include "tracer/interpose/libc_alloc.h"

#include <dlfcn.h>
#include <link.h>

#include <cerrno>
#include <cstring>
#include <cwchar>

#include "tracer/interpose/boot_arena.h"
#include "tracer/interpose/dynamic_linker.h"
#include "tracer/interpose/raw_memory.h"
#include "tracer/interpose/replaced_operators.h"
#include "traces/base/reentry.h"

extern "C" const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

namespace gt::interpose {

namespace {

void* boot(size_t size, size_t align = 0) {
  void* p = boot_allocate(size, align);
  if (!p) errno = ENOMEM;
  return p;
}

void* first_malloc(size_t size) noexcept { return resolve_libc() ? libc.malloc(size) : boot(size); }

void* first_calloc(size_t n, size_t size) noexcept {
  if (resolve_libc()) return libc.calloc(n, size);
  size_t bytes = 0;
  return boot(__builtin_mul_overflow(n, size, &bytes) ? SIZE_MAX : bytes);
}

// Only boot memory can be resized before libc is known.
void* first_realloc(void* p, size_t size) noexcept {
  if (resolve_libc()) return libc.realloc(p, size);
  void* q = boot(size);
  if (q && p) std::memcpy(q, p, boot_size(p) < size ? boot_size(p) : size);
  return q;
}

void first_free(void* p) noexcept {
  if (resolve_libc()) libc.free(p);
}

void* first_memalign(size_t align, size_t size) noexcept {
  return resolve_libc() ? libc.memalign(align, size) : boot(size, align);
}

void* first_aligned_alloc(size_t align, size_t size) noexcept {
  return resolve_libc() ? libc.aligned_alloc(align, size) : boot(size, align);
}

int first_posix_memalign(void** out, size_t align, size_t size) noexcept {
  if (resolve_libc()) return libc.posix_memalign(out, align, size);
  if (align % sizeof(void*) != 0 || (align & (align - 1)) != 0 || align == 0) return EINVAL;
  void* p = boot_allocate(size, align);
  if (!p) return ENOMEM;
  *out = p;
  return 0;
}

size_t first_usable_size(void* p) noexcept { return resolve_libc() ? libc.usable_size(p) : 0; }

// Strings that are copied before libc is known lie in the boot arena.
template <class Char>
Char* boot_copy(const Char* text, size_t length) {
  auto* copy = static_cast<Char*>(boot((length + 1) * sizeof(Char)));
  if (copy) std::memcpy(copy, text, length * sizeof(Char));  // the arena's memory is zero
  return copy;
}
char* first_strdup(const char* text) noexcept {
  return resolve_libc() ? libc.strdup(text) : boot_copy(text, std::strlen(text));
}
char* first_strndup(const char* text, size_t n) noexcept {
  return resolve_libc() ? libc.strndup(text, n) : boot_copy(text, strnlen(text, n));
}
wchar_t* first_wcsdup(const wchar_t* text) noexcept {
  return resolve_libc() ? libc.wcsdup(text) : boot_copy(text, std::wcslen(text));
}

// libc's own malloc does not come here, so nobody moves the break while it is being looked for.
int first_brk(void* to) noexcept {
  if (resolve_libc()) return libc.brk(to);
  errno = ENOMEM;
  return -1;
}
void* first_sbrk(intptr_t by) noexcept {
  if (resolve_libc()) return libc.sbrk(by);
  errno = ENOMEM;
  return reinterpret_cast<void*>(-1);
}

enum class Search : int { NotBegun, UnderWay, Done };
constinit std::atomic<Search> g_search{Search::NotBegun};

// mmap and friends are in the list last: an allocator that comes after us may call them while it is
// being found.
void search() {
  libc.free.set(next_symbol("free"));
  libc.usable_size.set(next_symbol("malloc_usable_size"));
  libc.malloc.set(next_symbol("malloc"));
  libc.calloc.set(next_symbol("calloc"));
  libc.realloc.set(next_symbol("realloc"));
  libc.memalign.set(next_symbol("memalign"));
  libc.aligned_alloc.set(next_symbol("aligned_alloc"));
  libc.posix_memalign.set(next_symbol("posix_memalign"));
  libc.mmap.set(next_symbol("mmap"));
  libc.mremap.set(next_symbol("mremap"));
  libc.munmap.set(next_symbol("munmap"));
  libc.brk.set(next_symbol("brk"));
  libc.sbrk.set(next_symbol("sbrk"));
  libc.strdup.set(next_symbol("strdup"));
  libc.strndup.set(next_symbol("strndup"));
  libc.wcsdup.set(next_symbol("wcsdup"));
}

__attribute__((constructor(101))) void resolve_early() { resolve_libc(); }

}  // namespace

constinit LibcAlloc libc{first_malloc,         first_calloc,        first_realloc,
                         first_free,           first_memalign,      first_aligned_alloc,
                         first_posix_memalign, first_usable_size,   raw_mmap,
                         raw_mremap,           raw_munmap,          first_brk,
                         first_sbrk,           first_strdup,        first_strndup,
                         first_wcsdup};

bool resolve_libc() {
  Search state = Search::NotBegun;
  if (!g_search.compare_exchange_strong(state, Search::UnderWay, std::memory_order_acquire)) {
    return state == Search::Done;
  }
  const Reentry guard;
  const int saved_errno = errno;
  search();
  g_search.store(Search::Done, std::memory_order_release);
  find_operators();
  errno = saved_errno;
  return true;
}

bool is_our_module(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 && info.dli_fbase == &__ehdr_start;
}

void* next_symbol(const char* name) {
  void* found = real_dlsym(RTLD_NEXT, name);
  if (!found) real_dlerror();  // the program's next dlerror() is about its own calls
  return found;
}

}  // namespace gt::interpose
