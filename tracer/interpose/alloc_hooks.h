// One place that knows every allocation function, for both injected libraries.
//
// GT_DEFINE_ALLOC_HOOKS(Client) expands to the exported definitions of malloc, calloc, realloc,
// reallocarray, free, cfree, memalign, aligned_alloc, posix_memalign, valloc, pvalloc,
// malloc_usable_size, every operator new and delete, mmap, mmap64, mremap, munmap. Each asks the
// Client, which an injected library supplies with static inline members:
//
//   struct Client {
//     // Serves the request from the client's own memory, or returns nullptr: libc serves it.
//     `align` is 0 when the
//     // function takes none, else a power of two. The memory need not be zero for calloc. Called
//     only while the
//     // program's own code runs (program_runs()). Never asked for mmap, mmap64, mremap.
//     static void* allocate(AllocFn fn, size_t size, size_t align, const void* site);
//     // Is `p` the client's memory? One comparison. Called for every release and resize, whoever
//     runs. static bool owns(const void* p); static void release(void* p); // REQUIRES: owns(p)
//     static size_t usable_size(const void* p);              // REQUIRES: owns(p)
//     // Notifications, only while the program's own code runs. Allocations after the memory exists
//     (p is NULL when
//     // the call failed), releases before it goes (never of NULL). `old` is realloc's and mremap's
//     argument; for
//     // those, one call after both: p == NULL means that size was 0 and `old` is gone, or that the
//     call failed and
//     // `old` lives on.
//     static void allocated(AllocFn fn, void* p, size_t size, size_t align, const void* site);
//     static void resized(AllocFn fn, void* p, void* old, size_t size, const void* site);
//     static void releasing(AllocFn fn, void* p, size_t size, const void* site);   // size:
//     munmap's, else 0
//   };
//
// Client members run with t_flags.inside set, do not throw, keep errno, and may be called before
// any constructor of the library: their data must be constant-initialized.
//
// The version script of the library must NOT give these functions a version: references carry
// libc's versions (malloc@GLIBC_2.2.5), and only a definition without a version answers them all.
// So the script names the versioned cl* functions and hides the rest by pattern (`local:
// _Z[!nd]*;`) instead of by `local: *`.
//
// Invariants: errno is what libc left. operator new is recorded once, as itself, with its own
// caller as site. malloc's internal mmaps do not reach these hooks, also when an allocator is
// loaded after us. realloc between client memory and libc memory copies and keeps contents.
// Operators that the program replaces keep winning (operators.h). Calls made before libc's
// functions are resolved are served by the boot arena (boot_arena.h). Cost: two TLS loads, two TLS
// stores and one indirect call when the client does nothing.
#pragma once

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

#include "tracer/interpose/boot_arena.h"
#include "tracer/interpose/libc_alloc.h"
#include "tracer/interpose/operators.h"
#include "traces/api/alloc_fn.h"
#include "traces/base/reentry.h"

namespace gt::interpose {

using api::AllocFn;

inline size_t page_bytes() { return static_cast<size_t>(getpagesize()); }

// Marks the thread as inside. Stores instead of counting: it is entered only by the program's own
// code, where `inside` is 0.
class Quiet {
 public:
  Quiet() { t_flags.inside = 1; }
  ~Quiet() { t_flags.inside = 0; }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
};

template <class Client>
struct AllocHooks {
  using Site = const void*;

  // The common shape: ask the client, else libc; then notify.
  template <class Serve>
  static void* take(AllocFn fn, size_t size, size_t align, Site site, Serve serve) noexcept {
    if (!program_runs()) return serve();
    const Quiet quiet;
    void* p = Client::allocate(fn, size, align, site);
    if (!p) p = serve();
    if (__builtin_expect(!p, 0) && size == DoomedBytes) return nullptr;
    Client::allocated(fn, p, size, align, site);
    return p;
  }

  static void* malloc(AllocFn fn, size_t size, Site site) noexcept {
    return take(fn, size, 0, site, [=] { return libc.malloc(size); });
  }

  static void* calloc(size_t n, size_t each, Site site) noexcept {
    size_t size = 0;
    if (!program_runs()) return libc.calloc(n, each);
    const Quiet quiet;
    const bool fits = !__builtin_mul_overflow(n, each, &size);
    void* p = fits ? Client::allocate(AllocFn::Calloc, size, 0, site) : nullptr;
    if (p) {
      std::memset(p, 0, size);
    } else {
      p = libc.calloc(n, each);
    }
    Client::allocated(AllocFn::Calloc, p, fits ? size : SIZE_MAX, 0, site);
    return p;
  }

  // Whatever alignment libc accepts or refuses, it decides; the client sees powers of two only.
  template <class Serve>
  static void* aligned(AllocFn fn, size_t size, size_t align, Site site, Serve serve) noexcept {
    if (__builtin_expect(align == 0 || (align & (align - 1)) != 0, 0)) {
      void* p = serve();
      if (program_runs()) notify(fn, p, size, align, site);
      return p;
    }
    return take(fn, size, align, site, serve);
  }

  static void* memalign(AllocFn fn, size_t size, size_t align, Site site) noexcept {
    return aligned(fn, size, align, site, [=] { return libc.memalign(align, size); });
  }
  static void* aligned_alloc(size_t align, size_t size, Site site) noexcept {
    return aligned(AllocFn::AlignedAlloc, size, align, site,
                   [=] { return libc.aligned_alloc(align, size); });
  }
  static int posix_memalign(void** out, size_t align, size_t size, Site site) noexcept {
    if (__builtin_expect(align % sizeof(void*) != 0, 0)) {
      if (program_runs()) notify(AllocFn::PosixMemalign, nullptr, size, align, site);
      return EINVAL;
    }
    int err = 0;
    void* p = aligned(AllocFn::PosixMemalign, size, align, site, [&]() -> void* {
      void* q = nullptr;
      err = libc.posix_memalign(&q, align, size);
      return err == 0 ? q : nullptr;
    });
    if (p || err == 0) *out = p;
    return err;
  }
  static void* pvalloc(size_t size, Site site) noexcept {
    const size_t page = page_bytes();
    size_t whole = (size + page - 1) & ~(page - 1);
    if (whole < size) whole = SIZE_MAX;
    return take(AllocFn::Pvalloc, whole, page, site, [=] { return libc.memalign(page, whole); });
  }

  // Gives memory back to whom it belongs.
  static void give_back(void* p) noexcept {
    if (boot_owns(p)) return;
    if (Client::owns(p)) return Client::release(p);
    libc.free(p);
  }

  static void free(AllocFn fn, void* p, Site site) noexcept {
    if (!p) return;
    if (!program_runs()) return give_back(p);
    const Quiet quiet;
    Client::releasing(fn, p, 0, site);
    give_back(p);
  }

  static size_t usable_size(void* p) noexcept {
    if (!p) return 0;
    if (boot_owns(p)) return boot_size(p);
    return Client::owns(p) ? Client::usable_size(p) : libc.usable_size(p);
  }

  // realloc in which at least one end is not libc's. `fresh` is the client's offer for the new
  // block, or nullptr.
  static void* move(void* p, size_t size, void* fresh) noexcept {
    if (!fresh) fresh = libc.malloc(size);
    if (!fresh) return nullptr;
    const size_t old_size = usable_size(p);
    std::memcpy(fresh, p, old_size < size ? old_size : size);
    give_back(p);
    return fresh;
  }

  static void* resize(void* p, size_t size, void* fresh) noexcept {
    if (!p) return fresh ? fresh : libc.malloc(size);
    if (!fresh && !boot_owns(p) && !Client::owns(p)) return libc.realloc(p, size);
    if (size == 0) {
      give_back(p);
      return nullptr;
    }
    return move(p, size, fresh);
  }

  // A block of the client's that is neither too small nor wastefully large for the new size.
  static bool stays(void* p, size_t size) noexcept {
    if (!p || size == 0 || !Client::owns(p)) return false;
    const size_t usable = Client::usable_size(p);
    return size <= usable && size >= usable / 2;
  }

  static void* realloc(AllocFn fn, void* p, size_t size, Site site) noexcept {
    if (!program_runs()) return resize(p, size, nullptr);
    const Quiet quiet;
    void* q = p;
    if (!stays(p, size)) {
      void* fresh = size == 0 && p ? nullptr : Client::allocate(fn, size, 0, site);
      q = resize(p, size, fresh);
    }
    Client::resized(fn, q, p, size, site);
    return q;
  }

  static void* reallocarray(void* p, size_t n, size_t each, Site site) noexcept {
    size_t size = 0;
    if (!__builtin_mul_overflow(n, each, &size))
      return realloc(AllocFn::Reallocarray, p, size, site);
    if (program_runs()) {
      const Quiet quiet;
      Client::resized(AllocFn::Reallocarray, nullptr, p, SIZE_MAX, site);
    }
    errno = ENOMEM;
    return nullptr;
  }

  // [new.delete]: never nullptr; on failure the handler is called until it gives up by not being
  // there.
  static void* operator_new(AllocFn fn, size_t size, size_t align, Site site) {
    if (!operators_are_ours() && operators_step_aside()) {
      if (void* f = runtime_operator(fn, site)) return call_runtime_new(f, size, align);
    }
    for (;;) {
      if (void* p = try_new(fn, size, align, site)) return p;
      call_new_handler_or_throw(site);
    }
  }

  static void* operator_new_nothrow(AllocFn fn, size_t size, size_t align, Site site) noexcept {
    if (!operators_are_ours() && operators_step_aside()) {
      if (void* f = runtime_operator(fn, site)) return call_runtime_new_nothrow(f, size, align);
    }
    if (void* p = try_new(fn, size, align, site)) return p;
    // A handler may throw; only the runtime's own operator can catch that. It calls our throwing
    // one.
    if (!has_new_handler(site)) return nullptr;
    void* f = runtime_operator(fn, site);
    return f ? call_runtime_new_nothrow(f, size, align) : nullptr;
  }

  static void operator_delete(AllocFn fn, void* p, size_t size, size_t align, Site site) noexcept {
    if (!operators_are_ours() && operators_step_aside()) {
      if (void* f = runtime_operator(fn, site)) return call_runtime_delete(fn, f, p, size, align);
    }
    free(fn, p, site);
  }

  static void* mmap(AllocFn fn, void* at, size_t size, int prot, int flags, int fd, off_t offset,
                    Site site) noexcept {
    if (!program_runs()) return libc.mmap(at, size, prot, flags, fd, offset);
    const Quiet quiet;
    void* p = libc.mmap(at, size, prot, flags, fd, offset);
    Client::allocated(fn, p == MAP_FAILED ? nullptr : p, size, 0, site);
    return p;
  }

  static void* mremap(void* old, size_t old_size, size_t size, int flags, void* to,
                      Site site) noexcept {
    if (!program_runs()) return libc.mremap(old, old_size, size, flags, to);
    const Quiet quiet;
    void* p = libc.mremap(old, old_size, size, flags, to);
    Client::resized(AllocFn::Mremap, p == MAP_FAILED ? nullptr : p, old, size, site);
    return p;
  }

  static int munmap(void* at, size_t size, Site site) noexcept {
    const bool sensible = size != 0 && reinterpret_cast<uintptr_t>(at) % page_bytes() == 0;
    if (!program_runs() || !sensible) return libc.munmap(at, size);
    const Quiet quiet;
    Client::releasing(AllocFn::Munmap, at, size, site);
    return libc.munmap(at, size);
  }

 private:
  __attribute__((noinline, cold)) static void notify(AllocFn fn, void* p, size_t size, size_t align,
                                                     Site site) noexcept {
    const Quiet quiet;
    Client::allocated(fn, p, size, align, site);
  }

  static void* try_new(AllocFn fn, size_t size, size_t align, Site site) noexcept {
    if (align <= alignof(std::max_align_t)) {
      return take(fn, size, align, site, [=] { return libc.malloc(size ? size : 1); });
    }
    const size_t whole = (size + align - 1) & ~(align - 1);
    return take(fn, size, align, site, [=] {
      return whole < size ? nullptr : libc.aligned_alloc(align, whole ? whole : align);
    });
  }

  static void* call_runtime_new(void* f, size_t size, size_t align) {
    if (align == 0) return reinterpret_cast<void* (*)(size_t)>(f)(size);
    return reinterpret_cast<void* (*)(size_t, std::align_val_t)>(f)(size, std::align_val_t{align});
  }
  static void* call_runtime_new_nothrow(void* f, size_t size, size_t align) noexcept {
    using Plain = void* (*)(size_t, const std::nothrow_t&);
    using Aligned = void* (*)(size_t, std::align_val_t, const std::nothrow_t&);
    if (align == 0) return reinterpret_cast<Plain>(f)(size, std::nothrow_t{});
    return reinterpret_cast<Aligned>(f)(size, std::align_val_t{align}, std::nothrow_t{});
  }
  static void call_runtime_delete(AllocFn fn, void* f, void* p, size_t size,
                                  size_t align) noexcept {
    const bool sized = fn == AllocFn::DeleteSized || fn == AllocFn::DeleteArraySized ||
                       fn == AllocFn::DeleteSizedAligned || fn == AllocFn::DeleteArraySizedAligned;
    // The nothrow forms take one more argument, a reference to an empty object that nobody reads.
    static constexpr std::nothrow_t Nothrow{};
    if (sized && align) return reinterpret_cast<void (*)(void*, size_t, size_t)>(f)(p, size, align);
    if (sized) return reinterpret_cast<void (*)(void*, size_t)>(f)(p, size);
    if (align) return reinterpret_cast<void (*)(void*, size_t, const void*)>(f)(p, align, &Nothrow);
    reinterpret_cast<void (*)(void*, const void*)>(f)(p, &Nothrow);
  }
};

}  // namespace gt::interpose

#define GT_EXPORT __attribute__((visibility("default")))
#define GT_SITE __builtin_return_address(0)

#define GT_DEFINE_ALLOC_HOOKS(Client)                          \
  GT_DEFINE_C_ALLOC_HOOKS(::gt::interpose::AllocHooks<Client>) \
  GT_DEFINE_NEW_HOOKS(::gt::interpose::AllocHooks<Client>)     \
  GT_DEFINE_DELETE_HOOKS(::gt::interpose::AllocHooks<Client>)  \
  GT_DEFINE_MMAP_HOOKS(::gt::interpose::AllocHooks<Client>)

#define GT_DEFINE_C_ALLOC_HOOKS(Hooks)                                                           \
  extern "C" {                                                                                   \
  GT_EXPORT void* malloc(size_t size) noexcept {                                                 \
    return Hooks::malloc(::gt::api::AllocFn::Malloc, size, GT_SITE);                             \
  }                                                                                              \
  GT_EXPORT void* calloc(size_t n, size_t size) noexcept {                                       \
    return Hooks::calloc(n, size, GT_SITE);                                                      \
  }                                                                                              \
  GT_EXPORT void* realloc(void* p, size_t size) noexcept {                                       \
    return Hooks::realloc(::gt::api::AllocFn::Realloc, p, size, GT_SITE);                        \
  }                                                                                              \
  GT_EXPORT void* reallocarray(void* p, size_t n, size_t size) noexcept {                        \
    return Hooks::reallocarray(p, n, size, GT_SITE);                                             \
  }                                                                                              \
  GT_EXPORT void free(void* p) noexcept { Hooks::free(::gt::api::AllocFn::Free, p, GT_SITE); }   \
  GT_EXPORT void cfree(void* p) noexcept;                                                        \
  GT_EXPORT void cfree(void* p) noexcept { Hooks::free(::gt::api::AllocFn::Cfree, p, GT_SITE); } \
  GT_EXPORT void* memalign(size_t align, size_t size) noexcept {                                 \
    return Hooks::memalign(::gt::api::AllocFn::Memalign, size, align, GT_SITE);                  \
  }                                                                                              \
  GT_EXPORT void* aligned_alloc(size_t align, size_t size) noexcept {                            \
    return Hooks::aligned_alloc(align, size, GT_SITE);                                           \
  }                                                                                              \
  GT_EXPORT int posix_memalign(void** out, size_t align, size_t size) noexcept {                 \
    return Hooks::posix_memalign(out, align, size, GT_SITE);                                     \
  }                                                                                              \
  GT_EXPORT void* valloc(size_t size) noexcept {                                                 \
    return Hooks::memalign(::gt::api::AllocFn::Valloc, size, ::gt::interpose::page_bytes(),      \
                           GT_SITE);                                                             \
  }                                                                                              \
  GT_EXPORT void* pvalloc(size_t size) noexcept { return Hooks::pvalloc(size, GT_SITE); }        \
  GT_EXPORT size_t malloc_usable_size(void* p) noexcept { return Hooks::usable_size(p); }        \
  }

#define GT_NEW(Hooks, fn, size, align) \
  Hooks::operator_new(::gt::api::AllocFn::fn, size, align, GT_SITE)
#define GT_NEW_NOTHROW(Hooks, fn, size, align) \
  Hooks::operator_new_nothrow(::gt::api::AllocFn::fn, size, align, GT_SITE)
#define GT_DELETE(Hooks, fn, p, size, align) \
  Hooks::operator_delete(::gt::api::AllocFn::fn, p, size, align, GT_SITE)

#define GT_DEFINE_NEW_HOOKS(Hooks)                                                               \
  GT_EXPORT void* operator new(size_t n) { return GT_NEW(Hooks, New, n, 0); }                    \
  GT_EXPORT void* operator new[](size_t n) { return GT_NEW(Hooks, NewArray, n, 0); }             \
  GT_EXPORT void* operator new(size_t n, const std::nothrow_t&) noexcept {                       \
    return GT_NEW_NOTHROW(Hooks, NewNothrow, n, 0);                                              \
  }                                                                                              \
  GT_EXPORT void* operator new[](size_t n, const std::nothrow_t&) noexcept {                     \
    return GT_NEW_NOTHROW(Hooks, NewArrayNothrow, n, 0);                                         \
  }                                                                                              \
  GT_EXPORT void* operator new(size_t n, std::align_val_t a) {                                   \
    return GT_NEW(Hooks, NewAligned, n, size_t(a));                                              \
  }                                                                                              \
  GT_EXPORT void* operator new[](size_t n, std::align_val_t a) {                                 \
    return GT_NEW(Hooks, NewArrayAligned, n, size_t(a));                                         \
  }                                                                                              \
  GT_EXPORT void* operator new(size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {   \
    return GT_NEW_NOTHROW(Hooks, NewAlignedNothrow, n, size_t(a));                               \
  }                                                                                              \
  GT_EXPORT void* operator new[](size_t n, std::align_val_t a, const std::nothrow_t&) noexcept { \
    return GT_NEW_NOTHROW(Hooks, NewArrayAlignedNothrow, n, size_t(a));                          \
  }

#define GT_DEFINE_DELETE_HOOKS(Hooks)                                                             \
  GT_EXPORT void operator delete(void* p) noexcept { GT_DELETE(Hooks, Delete, p, 0, 0); }         \
  GT_EXPORT void operator delete[](void* p) noexcept { GT_DELETE(Hooks, DeleteArray, p, 0, 0); }  \
  GT_EXPORT void operator delete(void* p, size_t n) noexcept {                                    \
    GT_DELETE(Hooks, DeleteSized, p, n, 0);                                                       \
  }                                                                                               \
  GT_EXPORT void operator delete[](void* p, size_t n) noexcept {                                  \
    GT_DELETE(Hooks, DeleteArraySized, p, n, 0);                                                  \
  }                                                                                               \
  GT_EXPORT void operator delete(void* p, std::align_val_t a) noexcept {                          \
    GT_DELETE(Hooks, DeleteAligned, p, 0, size_t(a));                                             \
  }                                                                                               \
  GT_EXPORT void operator delete[](void* p, std::align_val_t a) noexcept {                        \
    GT_DELETE(Hooks, DeleteArrayAligned, p, 0, size_t(a));                                        \
  }                                                                                               \
  GT_EXPORT void operator delete(void* p, size_t n, std::align_val_t a) noexcept {                \
    GT_DELETE(Hooks, DeleteSizedAligned, p, n, size_t(a));                                        \
  }                                                                                               \
  GT_EXPORT void operator delete[](void* p, size_t n, std::align_val_t a) noexcept {              \
    GT_DELETE(Hooks, DeleteArraySizedAligned, p, n, size_t(a));                                   \
  }                                                                                               \
  GT_EXPORT void operator delete(void* p, const std::nothrow_t&) noexcept {                       \
    GT_DELETE(Hooks, DeleteNothrow, p, 0, 0);                                                     \
  }                                                                                               \
  GT_EXPORT void operator delete[](void* p, const std::nothrow_t&) noexcept {                     \
    GT_DELETE(Hooks, DeleteArrayNothrow, p, 0, 0);                                                \
  }                                                                                               \
  GT_EXPORT void operator delete(void* p, std::align_val_t a, const std::nothrow_t&) noexcept {   \
    GT_DELETE(Hooks, DeleteAlignedNothrow, p, 0, size_t(a));                                      \
  }                                                                                               \
  GT_EXPORT void operator delete[](void* p, std::align_val_t a, const std::nothrow_t&) noexcept { \
    GT_DELETE(Hooks, DeleteArrayAlignedNothrow, p, 0, size_t(a));                                 \
  }

#define GT_DEFINE_MMAP_HOOKS(Hooks)                                                              \
  extern "C" {                                                                                   \
  GT_EXPORT void* mmap(void* at, size_t n, int prot, int flags, int fd, off_t offset) noexcept { \
    return Hooks::mmap(::gt::api::AllocFn::Mmap, at, n, prot, flags, fd, offset, GT_SITE);       \
  }                                                                                              \
  GT_EXPORT void* mmap64(void* at, size_t n, int prot, int flags, int fd,                        \
                         off64_t offset) noexcept {                                              \
    return Hooks::mmap(::gt::api::AllocFn::Mmap64, at, n, prot, flags, fd, offset, GT_SITE);     \
  }                                                                                              \
  GT_EXPORT void* mremap(void* old, size_t old_n, size_t n, int flags, ...) noexcept {           \
    void* to = nullptr;                                                                          \
    if (flags & ~MREMAP_MAYMOVE) { /* only then there is a fifth argument */                     \
      va_list more;                                                                              \
      va_start(more, flags);                                                                     \
      to = va_arg(more, void*);                                                                  \
      va_end(more);                                                                              \
    }                                                                                            \
    return Hooks::mremap(old, old_n, n, flags, to, GT_SITE);                                     \
  }                                                                                              \
  GT_EXPORT int munmap(void* at, size_t n) noexcept { return Hooks::munmap(at, n, GT_SITE); }    \
  }
