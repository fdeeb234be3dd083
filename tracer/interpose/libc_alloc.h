// The allocation functions behind ours: libc's, or those of an allocator that is loaded after us
// (tcmalloc, jemalloc).
//
// Found with dlsym(RTLD_NEXT) by our constructor or by the first call, whichever comes first. Until
// then every slot holds a function that looks for them, and serves the call from the boot arena
// while the search is under way. Beware: when the program itself defines malloc, memory that libc
// allocates on our behalf (getline, asprintf, realpath(x, NULL)) comes from there, and free() in an
// injected library does not lead there. Do not use such functions. Thread safety: slots change
// once, from the searching function to the real one; both do the same.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#pragma GCC visibility push(hidden)

namespace gt::interpose {

// A function pointer that may be replaced while other threads call it.
template <class Function>
class Slot;
template <class R, class... Args>
class Slot<R(Args...)> {
 public:
  using Pointer = R (*)(Args...) noexcept;
  constexpr Slot(Pointer f) : f_(f) {}  // NOLINT: implicit on purpose
  void* address() const { return reinterpret_cast<void*>(f_.load(std::memory_order_acquire)); }
  R operator()(Args... args) const noexcept { return f_.load(std::memory_order_relaxed)(args...); }
  void set(void* f) {
    if (f) f_.store(reinterpret_cast<Pointer>(f), std::memory_order_release);
  }

 private:
  std::atomic<Pointer> f_;
};

struct LibcAlloc {
  Slot<void*(size_t)> malloc;
  Slot<void*(size_t, size_t)> calloc;
  Slot<void*(void*, size_t)> realloc;
  Slot<void(void*)> free;
  Slot<void*(size_t, size_t)> memalign;
  Slot<void*(size_t, size_t)> aligned_alloc;
  Slot<int(void**, size_t, size_t)> posix_memalign;
  Slot<size_t(void*)> usable_size;
  Slot<void*(void*, size_t, int, int, int, off_t)> mmap;
  Slot<void*(void*, size_t, size_t, int, void*)> mremap;
  Slot<int(void*, size_t)> munmap;
  Slot<int(void*)> brk;
  Slot<void*(intptr_t)> sbrk;
  Slot<char*(const char*)> strdup;
  Slot<char*(const char*, size_t)> strndup;
  Slot<wchar_t*(const wchar_t*)> wcsdup;
};
extern LibcAlloc libc;

// Fills `libc`. False while another call is doing so. Safe to call at any time.
bool resolve_libc();

// The library or program that holds this code: is `address` in it?
bool is_our_module(const void* address);

// RTLD_NEXT's answer, leaving no trace in dlerror().
void* next_symbol(const char* name);

}  // namespace gt::interpose

#pragma GCC visibility pop
