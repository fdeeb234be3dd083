// One place that knows every allocation function, for both injected libraries.
//
// GT_DEFINE_ALLOC_HOOKS(Client) expands to the exported definitions of all functions of api::AllocFn. Each asks the
// Client, which an injected library supplies with static inline members:
//
//   struct Client {
//     // Serves the request from the client's own memory, or returns nullptr: libc serves it. `align` is 0 when the
//     // function takes none, else a power of two. The memory need not be zero for calloc. Called only while the
//     // program's own code runs (program_runs()). Never asked for mappings, the break and strings.
//     static void* allocate(AllocFn fn, size_t size, size_t align, const void* site);
//     // Optional: the same for calloc, zero, where the client knows of memory that is so already.
//     static void* allocate_zero(size_t size, const void* site);
//     // Optional. True: whoever runs, the client would neither serve an allocation of this size nor be interested in
//     // it; the memory at `p` is not its own, and not of interest. Such calls go straight on, untold.
//     static bool ignores(size_t size);
//     static bool ignores(size_t size, const void* site);  // the same, where the caller is known
//     static bool ignores(const void* p);
//     // Is `p` the client's memory? One comparison. Called for every release and resize, whoever runs.
//     static bool owns(const void* p);
//     static void release(void* p);                          // REQUIRES: owns(p)
//     static size_t usable_size(const void* p);              // REQUIRES: owns(p)
//     // Optional. Before memory of libc's goes back to libc or is resized, whoever runs; `program`: the program does.
//     static void leaving(const void* p, bool program);
//     // Optional. Before leaving(), when the program frees memory of libc's. True: it does not go back to libc now;
//     // the client hands it out again, or gives it back later.
//     static bool keeps(void* p);
//     // Optional: what mapping_calls.h has.
//     // Notifications, only while the program's own code runs. `args` are the function's parameters, as alloc_fn.h
//     // has them, and its result, if it has one (not in entered()). What fails makes nullptr.
//     //   returned   a call that gives nothing back: afterwards. `made`: the memory that it made, of `bytes`
//     //   releasing  free and delete: before
//     //   entered    realloc, mremap, munmap: before; `bytes` are those asked for
//     //   left       the same call, afterwards; nothing of this thread comes in between
//     static void returned(AllocFn fn, const void* site, const void* made, size_t bytes, auto... args);
//     static void releasing(AllocFn fn, const void* site, const void* p, auto... args);
//     static void entered(AllocFn fn, const void* site, size_t bytes, auto... args);
//     static void left(AllocFn fn, const void* site, const void* made, size_t bytes, auto result);
//   };
//
// Client members run with t_flags.inside set, do not throw, keep errno, and may be called before any constructor of the
// library: their data must be constant-initialized.
//
// Thread safety: members are called by any thread, several at a time. Of those that are called only while the program's
// own code runs a thread enters none twice, whatever its signal handlers do.
//
// The version script of the library must NOT give these functions a version: references carry libc's versions
// (malloc@GLIBC_2.2.5), and only a definition without a version answers them all. So the script names the versioned cl*
// functions and hides the rest by pattern (`local: _Z[!nd]*;`) instead of by `local: *`.
//
// Invariants: errno is what libc left. operator new is notified once, as itself, with its own caller as site; so are
// the string functions, whose malloc is theirs. malloc's internal mmaps and its brk do not reach these hooks, also when
// an allocator is loaded after us. realloc between client memory and libc memory copies and keeps contents. Operators
// that the program replaces keep winning (operators.h). Calls made before libc's functions are resolved are served by
// the boot arena (boot_arena.h).
// Cost: two TLS loads, two TLS stores and one indirect call when the client does nothing; the call alone for what it
// ignores.
#pragma once

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <new>

#include "tracer/interpose/boot_arena.h"
#include "tracer/interpose/libc_alloc.h"
#include "tracer/interpose/mapping_calls.h"
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
  using Mapping = MappingCalls<Client>;

  template <class What>
  static bool ignores(What what) noexcept {
    if constexpr (requires { Client::ignores(what); })
      return __builtin_expect(Client::ignores(what), 1);
    else
      return false;
  }
  static bool ignores(size_t size, Site site) noexcept {
    if constexpr (requires { Client::ignores(size, site); })
      return __builtin_expect(Client::ignores(size, site), 1);
    else
      return ignores(size);
  }
  // Where much is ignored, the rest is kept out of the way of that.
  template <class F>
  static auto rest(F f) noexcept {
    if constexpr (requires { Client::ignores(size_t{}); })
      return apart(f);
    else
      return f();
  }
  template <class F>
  __attribute__((noinline)) static auto apart(const F& f) noexcept {
    return f();
  }

  // The common shape: ask the client, else libc; then notify with `args` and the result.
  template <class Serve, class... Args>
  static void* take(AllocFn fn, size_t size, size_t align, Site site, Serve serve, Args... args) noexcept {
    if (ignores(size, site)) return serve();
    return rest([=]() -> void* {
      if (!program_runs()) return serve();
      const Quiet quiet;
      void* p = Client::allocate(fn, size, align, site);
      if (!p) p = serve();
      if (__builtin_expect(!p, 0) && size == DoomedBytes) return nullptr;
      Client::returned(fn, site, p, size, args..., p);
      return p;
    });
  }

  static void* malloc(AllocFn fn, size_t size, Site site) noexcept {
    return take(
        fn, size, 0, site, [=] { return libc.malloc(size); }, size);
  }

  static void* zeros(size_t size, Site site) noexcept {
    if constexpr (requires { Client::allocate_zero(size, site); }) {
      return Client::allocate_zero(size, site);
    } else {
      void* p = Client::allocate(AllocFn::Calloc, size, 0, site);
      return p ? std::memset(p, 0, size) : nullptr;
    }
  }

  static void* calloc(size_t n, size_t each, Site site) noexcept {
    size_t size = 0;
    const bool fits = !__builtin_mul_overflow(n, each, &size);
    if ((fits && ignores(size, site)) || !program_runs()) return libc.calloc(n, each);
    const Quiet quiet;
    void* p = fits ? zeros(size, site) : nullptr;
    if (!p) p = libc.calloc(n, each);
    Client::returned(AllocFn::Calloc, site, p, fits ? size : SIZE_MAX, n, each, p);
    return p;
  }

  // Whatever alignment libc accepts or refuses, it decides; the client is asked for powers of two only.
  template <class Serve>
  static void* aligned(AllocFn fn, size_t size, size_t align, Site site, Serve serve) noexcept {
    if (__builtin_expect(align == 0 || (align & (align - 1)) != 0, 0)) {
      void* p = serve();
      if (program_runs()) notify(fn, site, p, size, align, size, p);
      return p;
    }
    return take(fn, size, align, site, serve, align, size);
  }

  static void* memalign(size_t align, size_t size, Site site) noexcept {
    return aligned(AllocFn::Memalign, size, align, site, [=] { return libc.memalign(align, size); });
  }
  static void* aligned_alloc(size_t align, size_t size, Site site) noexcept {
    return aligned(AllocFn::AlignedAlloc, size, align, site, [=] { return libc.aligned_alloc(align, size); });
  }
  static int posix_memalign(void** out, size_t align, size_t size, Site site) noexcept {
    if (!program_runs()) return serve_posix_memalign(out, align, size);
    const Quiet quiet;
    const bool sane = align % sizeof(void*) == 0 && align != 0 && (align & (align - 1)) == 0;
    void* p = sane ? Client::allocate(AllocFn::PosixMemalign, size, align, site) : nullptr;
    const int err = p ? 0 : serve_posix_memalign(&p, align, size);
    if (err == 0) *out = p;
    Client::returned(AllocFn::PosixMemalign, site, p, size, p, align, size, err);
    return err;
  }
  static void* valloc(size_t size, Site site) noexcept {
    const size_t page = page_bytes();
    return take(
        AllocFn::Valloc, size, page, site, [=] { return libc.memalign(page, size); }, size);
  }
  static void* pvalloc(size_t size, Site site) noexcept {
    const size_t page = page_bytes();
    size_t whole = (size + page - 1) & ~(page - 1);
    if (whole < size) whole = SIZE_MAX;
    return take(
        AllocFn::Pvalloc, whole, page, site, [=] { return libc.memalign(page, whole); }, size);
  }

  static void leaving(const void* p, bool program) noexcept {
    if constexpr (requires { Client::leaving(p, program); }) Client::leaving(p, program);
  }

  static bool keeps(void* p) noexcept {
    if constexpr (requires { Client::keeps(p); })
      return Client::keeps(p);
    else
      return false;
  }

  // Gives memory back to whom it belongs.
  static void give_back(void* p, bool program) noexcept {
    if (boot_owns(p)) return;
    if (Client::owns(p)) return Client::release(p);
    if (program && keeps(p)) return;
    leaving(p, program);
    libc.free(p);
  }

  template <class... Args>
  static void free(AllocFn fn, void* p, Site site, Args... args) noexcept {
    if (ignores(p) && !boot_owns(p)) return libc.free(p);
    return rest([=] {
      if (!program_runs()) return p ? give_back(p, false) : void();
      const Quiet quiet;
      Client::releasing(fn, site, p, args...);
      if (p) give_back(p, true);
    });
  }

  static size_t malloc_usable_size(void* p, Site site) noexcept {
    const size_t size = usable_size(p);
    if (program_runs()) notify(AllocFn::MallocUsableSize, site, nullptr, 0, p, size);
    return size;
  }

  static size_t usable_size(void* p) noexcept {
    if (!p) return 0;
    if (boot_owns(p)) return boot_size(p);
    return Client::owns(p) ? Client::usable_size(p) : libc.usable_size(p);
  }

  // realloc in which at least one end is not libc's. `fresh` is the client's offer for the new
  // block, or nullptr.
  static void* move(void* p, size_t size, void* fresh, bool program) noexcept {
    if (!fresh) fresh = libc.malloc(size);
    if (!fresh) return nullptr;
    const size_t old_size = usable_size(p);
    std::memcpy(fresh, p, old_size < size ? old_size : size);
    give_back(p, program);
    return fresh;
  }

  static void* resize(void* p, size_t size, void* fresh, bool program) noexcept {
    if (!p) return fresh ? fresh : libc.malloc(size);
    if (!fresh && !boot_owns(p) && !Client::owns(p)) {
      leaving(p, program);
      return libc.realloc(p, size);
    }
    if (size == 0) {
      give_back(p, program);
      return nullptr;
    }
    return move(p, size, fresh, program);
  }

  // A block of the client's that is neither too small nor wastefully large for the new size.
  static bool stays(void* p, size_t size) noexcept {
    if (!p || size == 0 || !Client::owns(p)) return false;
    const size_t usable = Client::usable_size(p);
    return size <= usable && size >= usable / 2;
  }

  // `args`: the parameters after `p`.
  template <class... Args>
  static void* realloc(AllocFn fn, void* p, size_t size, Site site, Args... args) noexcept {
    if (!program_runs()) return resize(p, size, nullptr, false);
    const Quiet quiet;
    Client::entered(fn, site, size, p, args...);
    void* q = p;
    if (!stays(p, size)) {
      void* fresh = size == 0 && p ? nullptr : Client::allocate(fn, size, 0, site);
      q = resize(p, size, fresh, true);
    }
    Client::left(fn, site, q, size, q);
    return q;
  }

  static void* reallocarray(void* p, size_t n, size_t each, Site site) noexcept {
    size_t size = 0;
    if (!__builtin_mul_overflow(n, each, &size)) return realloc(AllocFn::Reallocarray, p, size, site, n, each);
    if (program_runs()) {
      const Quiet quiet;
      Client::entered(AllocFn::Reallocarray, site, SIZE_MAX, p, n, each);
      Client::left(AllocFn::Reallocarray, site, nullptr, SIZE_MAX, static_cast<void*>(nullptr));
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
    if (!is_sized(fn)) return align ? free(fn, p, site, align) : free(fn, p, site);
    align ? free(fn, p, site, size, align) : free(fn, p, site, size);
  }

  // --- Mappings: nothing of the client's ---

  static void* mmap(AllocFn fn, void* at, size_t size, int prot, int flags, int fd, off_t offset, Site site) noexcept {
    if (!program_runs()) return Mapping::mmap(at, size, prot, flags, fd, offset, false);
    const Quiet quiet;
    void* p = Mapping::mmap(at, size, prot, flags, fd, offset, true);
    void* made = p == MAP_FAILED ? nullptr : p;
    Client::returned(fn, site, made, size, at, size, prot, flags, fd, offset, made);
    return p;
  }

  static void* mremap(void* old, size_t old_size, size_t size, int flags, void* to, Site site) noexcept {
    if (!program_runs()) return Mapping::mremap(old, old_size, size, flags, to, false);
    const Quiet quiet;
    Client::entered(AllocFn::Mremap, site, size, old, old_size, size, flags, to);
    void* p = Mapping::mremap(old, old_size, size, flags, to, true);
    void* made = p == MAP_FAILED ? nullptr : p;
    Client::left(AllocFn::Mremap, site, made, size, made);
    return p;
  }

  static int munmap(void* at, size_t size, Site site) noexcept {
    if (!program_runs()) return Mapping::munmap(at, size, false);
    const Quiet quiet;
    Client::entered(AllocFn::Munmap, site, 0, at, size);
    const int err = Mapping::munmap(at, size, true);
    Client::left(AllocFn::Munmap, site, nullptr, 0, err);
    return err;
  }

  // --- The program break, which malloc moves without us. brk's argument is told as sbrk's, and behind its result comes
  // the break from before. ---

  static int brk(void* to, Site site) noexcept {
    if (!program_runs()) return libc.brk(to);
    const Quiet quiet;
    void* before = libc.sbrk(0);
    const int err = libc.brk(to);
    const ptrdiff_t by = static_cast<char*>(to) - static_cast<char*>(before);
    const bool grows = err == 0 && by > 0;
    void* made = grows ? before : nullptr;
    Client::returned(AllocFn::Brk, site, made, grows ? static_cast<size_t>(by) : 0, by, made, err, before);
    return err;
  }

  static void* sbrk(intptr_t by, Site site) noexcept {
    if (!program_runs()) return libc.sbrk(by);
    const Quiet quiet;
    void* before = libc.sbrk(by);
    const bool failed = before == reinterpret_cast<void*>(-1);
    Client::returned(AllocFn::Sbrk, site, by > 0 && !failed ? before : nullptr, by > 0 ? static_cast<size_t>(by) : 0,
                     by, failed ? nullptr : before);
    return before;
  }

  // --- Strings: behind the result come the bytes of the copy, and the caller's frame for texts on the stack ---

  template <class Char, class Copy, class Length, class... Args>
  static Char* string(AllocFn fn, Site site, const void* frame, const Char* text, Copy copy, Length length,
                      Args... args) noexcept {
    if (!program_runs()) return copy(text);
    const Quiet quiet;
    Char* made = copy(text);
    const size_t bytes = made ? (length(made) + 1) * sizeof(Char) : 0;
    Client::returned(fn, site, made, bytes, text, args..., made, bytes, frame);
    return made;
  }
  static char* strdup(const char* text, Site site, const void* frame) noexcept {
    return string(
        AllocFn::Strdup, site, frame, text, [](const char* t) { return libc.strdup(t); }, std::strlen);
  }
  static char* strndup(const char* text, size_t n, Site site, const void* frame) noexcept {
    return string(
        AllocFn::Strndup, site, frame, text, [n](const char* t) { return libc.strndup(t, n); }, std::strlen, n);
  }
  static wchar_t* wcsdup(const wchar_t* text, Site site, const void* frame) noexcept {
    return string(
        AllocFn::Wcsdup, site, frame, text, [](const wchar_t* t) { return libc.wcsdup(t); }, std::wcslen);
  }

 private:
  template <class... Args>
  __attribute__((noinline, cold)) static void notify(AllocFn fn, Site site, const void* made, size_t bytes,
                                                     Args... args) noexcept {
    const Quiet quiet;
    Client::returned(fn, site, made, bytes, args...);
  }

  // Leaves *out alone when it fails, as the standard says.
  static int serve_posix_memalign(void** out, size_t align, size_t size) noexcept {
    return align % sizeof(void*) != 0 ? EINVAL : libc.posix_memalign(out, align, size);
  }

  static bool is_sized(AllocFn fn) {
    return fn == AllocFn::DeleteSized || fn == AllocFn::DeleteArraySized || fn == AllocFn::DeleteSizedAligned ||
           fn == AllocFn::DeleteArraySizedAligned;
  }

  static void* try_new(AllocFn fn, size_t size, size_t align, Site site) noexcept {
    if (align == 0)
      return take(
          fn, size, align, site, [=] { return libc.malloc(size ? size : 1); }, size);
    const auto serve = [=]() -> void* {
      if (align <= alignof(std::max_align_t)) return libc.malloc(size ? size : 1);
      const size_t whole = (size + align - 1) & ~(align - 1);
      return whole < size ? nullptr : libc.aligned_alloc(align, whole ? whole : align);
    };
    return take(fn, size, align, site, serve, size, align);
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
  static void call_runtime_delete(AllocFn fn, void* f, void* p, size_t size, size_t align) noexcept {
    const bool sized = is_sized(fn);
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
  GT_DEFINE_MMAP_HOOKS(::gt::interpose::AllocHooks<Client>)    \
  GT_DEFINE_BREAK_HOOKS(::gt::interpose::AllocHooks<Client>)   \
  GT_DEFINE_STRING_HOOKS(::gt::interpose::AllocHooks<Client>)

#define GT_DEFINE_C_ALLOC_HOOKS(Hooks)                                                                              \
  extern "C" {                                                                                                      \
  GT_EXPORT void* malloc(size_t size) noexcept { return Hooks::malloc(::gt::api::AllocFn::Malloc, size, GT_SITE); } \
  GT_EXPORT void* calloc(size_t n, size_t size) noexcept { return Hooks::calloc(n, size, GT_SITE); }                \
  GT_EXPORT void* realloc(void* p, size_t size) noexcept {                                                          \
    return Hooks::realloc(::gt::api::AllocFn::Realloc, p, size, GT_SITE, size);                                     \
  }                                                                                                                 \
  GT_EXPORT void* reallocarray(void* p, size_t n, size_t size) noexcept {                                           \
    return Hooks::reallocarray(p, n, size, GT_SITE);                                                                \
  }                                                                                                                 \
  GT_EXPORT void free(void* p) noexcept { Hooks::free(::gt::api::AllocFn::Free, p, GT_SITE); }                      \
  GT_EXPORT void cfree(void* p) noexcept;                                                                           \
  GT_EXPORT void cfree(void* p) noexcept { Hooks::free(::gt::api::AllocFn::Cfree, p, GT_SITE); }                    \
  GT_EXPORT void* memalign(size_t align, size_t size) noexcept { return Hooks::memalign(align, size, GT_SITE); }    \
  GT_EXPORT void* aligned_alloc(size_t align, size_t size) noexcept {                                               \
    return Hooks::aligned_alloc(align, size, GT_SITE);                                                              \
  }                                                                                                                 \
  GT_EXPORT int posix_memalign(void** out, size_t align, size_t size) noexcept {                                    \
    return Hooks::posix_memalign(out, align, size, GT_SITE);                                                        \
  }                                                                                                                 \
  GT_EXPORT void* valloc(size_t size) noexcept { return Hooks::valloc(size, GT_SITE); }                             \
  GT_EXPORT void* pvalloc(size_t size) noexcept { return Hooks::pvalloc(size, GT_SITE); }                           \
  GT_EXPORT size_t malloc_usable_size(void* p) noexcept { return Hooks::malloc_usable_size(p, GT_SITE); }           \
  }

#define GT_NEW(Hooks, fn, size, align) Hooks::operator_new(::gt::api::AllocFn::fn, size, align, GT_SITE)
#define GT_NEW_NOTHROW(Hooks, fn, size, align) Hooks::operator_new_nothrow(::gt::api::AllocFn::fn, size, align, GT_SITE)
#define GT_DELETE(Hooks, fn, p, size, align) Hooks::operator_delete(::gt::api::AllocFn::fn, p, size, align, GT_SITE)

#define GT_DEFINE_NEW_HOOKS(Hooks)                                                                               \
  GT_EXPORT void* operator new(size_t n) { return GT_NEW(Hooks, New, n, 0); }                                    \
  GT_EXPORT void* operator new[](size_t n) { return GT_NEW(Hooks, NewArray, n, 0); }                             \
  GT_EXPORT void* operator new(size_t n, const std::nothrow_t&) noexcept {                                       \
    return GT_NEW_NOTHROW(Hooks, NewNothrow, n, 0);                                                              \
  }                                                                                                              \
  GT_EXPORT void* operator new[](size_t n, const std::nothrow_t&) noexcept {                                     \
    return GT_NEW_NOTHROW(Hooks, NewArrayNothrow, n, 0);                                                         \
  }                                                                                                              \
  GT_EXPORT void* operator new(size_t n, std::align_val_t a) { return GT_NEW(Hooks, NewAligned, n, size_t(a)); } \
  GT_EXPORT void* operator new[](size_t n, std::align_val_t a) {                                                 \
    return GT_NEW(Hooks, NewArrayAligned, n, size_t(a));                                                         \
  }                                                                                                              \
  GT_EXPORT void* operator new(size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {                   \
    return GT_NEW_NOTHROW(Hooks, NewAlignedNothrow, n, size_t(a));                                               \
  }                                                                                                              \
  GT_EXPORT void* operator new[](size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {                 \
    return GT_NEW_NOTHROW(Hooks, NewArrayAlignedNothrow, n, size_t(a));                                          \
  }

#define GT_DEFINE_DELETE_HOOKS(Hooks)                                                                           \
  GT_EXPORT void operator delete(void* p) noexcept { GT_DELETE(Hooks, Delete, p, 0, 0); }                       \
  GT_EXPORT void operator delete[](void* p) noexcept { GT_DELETE(Hooks, DeleteArray, p, 0, 0); }                \
  GT_EXPORT void operator delete(void* p, size_t n) noexcept { GT_DELETE(Hooks, DeleteSized, p, n, 0); }        \
  GT_EXPORT void operator delete[](void* p, size_t n) noexcept { GT_DELETE(Hooks, DeleteArraySized, p, n, 0); } \
  GT_EXPORT void operator delete(void* p, std::align_val_t a) noexcept {                                        \
    GT_DELETE(Hooks, DeleteAligned, p, 0, size_t(a));                                                           \
  }                                                                                                             \
  GT_EXPORT void operator delete[](void* p, std::align_val_t a) noexcept {                                      \
    GT_DELETE(Hooks, DeleteArrayAligned, p, 0, size_t(a));                                                      \
  }                                                                                                             \
  GT_EXPORT void operator delete(void* p, size_t n, std::align_val_t a) noexcept {                              \
    GT_DELETE(Hooks, DeleteSizedAligned, p, n, size_t(a));                                                      \
  }                                                                                                             \
  GT_EXPORT void operator delete[](void* p, size_t n, std::align_val_t a) noexcept {                            \
    GT_DELETE(Hooks, DeleteArraySizedAligned, p, n, size_t(a));                                                 \
  }                                                                                                             \
  GT_EXPORT void operator delete(void* p, const std::nothrow_t&) noexcept {                                     \
    GT_DELETE(Hooks, DeleteNothrow, p, 0, 0);                                                                   \
  }                                                                                                             \
  GT_EXPORT void operator delete[](void* p, const std::nothrow_t&) noexcept {                                   \
    GT_DELETE(Hooks, DeleteArrayNothrow, p, 0, 0);                                                              \
  }                                                                                                             \
  GT_EXPORT void operator delete(void* p, std::align_val_t a, const std::nothrow_t&) noexcept {                 \
    GT_DELETE(Hooks, DeleteAlignedNothrow, p, 0, size_t(a));                                                    \
  }                                                                                                             \
  GT_EXPORT void operator delete[](void* p, std::align_val_t a, const std::nothrow_t&) noexcept {               \
    GT_DELETE(Hooks, DeleteArrayAlignedNothrow, p, 0, size_t(a));                                               \
  }

#define GT_DEFINE_MMAP_HOOKS(Hooks)                                                                  \
  extern "C" {                                                                                       \
  GT_EXPORT void* mmap(void* at, size_t n, int prot, int flags, int fd, off_t offset) noexcept {     \
    return Hooks::mmap(::gt::api::AllocFn::Mmap, at, n, prot, flags, fd, offset, GT_SITE);           \
  }                                                                                                  \
  GT_EXPORT void* mmap64(void* at, size_t n, int prot, int flags, int fd, off64_t offset) noexcept { \
    return Hooks::mmap(::gt::api::AllocFn::Mmap64, at, n, prot, flags, fd, offset, GT_SITE);         \
  }                                                                                                  \
  GT_EXPORT void* mremap(void* old, size_t old_n, size_t n, int flags, ...) noexcept {               \
    void* to = nullptr;                                                                              \
    if (flags & ~MREMAP_MAYMOVE) { /* only then there is a fifth argument */                         \
      va_list more;                                                                                  \
      va_start(more, flags);                                                                         \
      to = va_arg(more, void*);                                                                      \
      va_end(more);                                                                                  \
    }                                                                                                \
    return Hooks::mremap(old, old_n, n, flags, to, GT_SITE);                                         \
  }                                                                                                  \
  GT_EXPORT int munmap(void* at, size_t n) noexcept { return Hooks::munmap(at, n, GT_SITE); }        \
  }

#define GT_DEFINE_BREAK_HOOKS(Hooks)                                              \
  extern "C" {                                                                    \
  GT_EXPORT int brk(void* to) noexcept { return Hooks::brk(to, GT_SITE); }        \
  GT_EXPORT void* sbrk(intptr_t by) noexcept { return Hooks::sbrk(by, GT_SITE); } \
  }

// Old programs call the functions by their names with two underscores.
#define GT_FRAME __builtin_dwarf_cfa()
#define GT_DEFINE_STRING_HOOKS(Hooks)                                                                             \
  extern "C" {                                                                                                    \
  GT_EXPORT char* strdup(const char* s) noexcept { return Hooks::strdup(s, GT_SITE, GT_FRAME); }                  \
  GT_EXPORT char* __strdup(const char* s) noexcept { return Hooks::strdup(s, GT_SITE, GT_FRAME); }                \
  GT_EXPORT char* strndup(const char* s, size_t n) noexcept { return Hooks::strndup(s, n, GT_SITE, GT_FRAME); }   \
  GT_EXPORT char* __strndup(const char* s, size_t n) noexcept { return Hooks::strndup(s, n, GT_SITE, GT_FRAME); } \
  GT_EXPORT wchar_t* wcsdup(const wchar_t* s) noexcept { return Hooks::wcsdup(s, GT_SITE, GT_FRAME); }            \
  }
