/* The dumb log's memory calls: every allocation function that the test programs use. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <wchar.h>

#include "tests/oracle/line.h"

#define CALLER __builtin_return_address(0)
#define NEXT(name, type, ...)           \
  static type (*next)(__VA_ARGS__);     \
  if (next == NULL) next = (type(*)(__VA_ARGS__))next_function(name)

/* dlsym itself allocates before calloc is known: served from here and never freed. */
static char g_boot[65536];
static size_t g_boot_used;
static int is_boot(const void* p) { return (const char*)p >= g_boot && (const char*)p < g_boot + sizeof g_boot; }
static void* boot(size_t size) {
  void* p = g_boot + g_boot_used;
  g_boot_used += (size + 15) & ~(size_t)15;
  return g_boot_used <= sizeof g_boot ? p : NULL;
}

static __thread int t_resolving __attribute__((tls_model("initial-exec")));
#define RESOLVE(name, type, ...)                          \
  static type (*next)(__VA_ARGS__);                       \
  if (next == NULL && !t_resolving) {                     \
    t_resolving = 1;                                      \
    next = (type(*)(__VA_ARGS__))next_function(name);     \
    t_resolving = 0;                                      \
  }

void* malloc(size_t size) {
  RESOLVE("malloc", void*, size_t)
  if (next == NULL) return boot(size);
  struct line l;
  line_begin(&l, "malloc", CALLER);
  void* p = next(size);
  line_number(&l, "size", (long long)size);
  line_pointer(&l, "return", p);
  line_end(&l);
  return p;
}

void* calloc(size_t count, size_t size) {
  RESOLVE("calloc", void*, size_t, size_t)
  if (next == NULL) return boot(count * size);
  struct line l;
  line_begin(&l, "calloc", CALLER);
  void* p = next(count, size);
  line_number(&l, "nmemb", (long long)count);
  line_number(&l, "size", (long long)size);
  line_pointer(&l, "return", p);
  line_end(&l);
  return p;
}

void* realloc(void* old, size_t size) {
  RESOLVE("realloc", void*, void*, size_t)
  if (next == NULL || is_boot(old)) return boot(size);
  struct line l;
  line_begin(&l, "realloc", CALLER);
  void* p = next(old, size);
  line_pointer(&l, "ptr", old);
  line_number(&l, "size", (long long)size);
  line_pointer(&l, "return", p);
  line_end(&l);
  return p;
}

void* reallocarray(void* old, size_t count, size_t size) {
  NEXT("reallocarray", void*, void*, size_t, size_t);
  struct line l;
  line_begin(&l, "reallocarray", CALLER);
  void* p = next(old, count, size);
  line_pointer(&l, "ptr", old);
  line_number(&l, "nmemb", (long long)count);
  line_number(&l, "size", (long long)size);
  line_pointer(&l, "return", p);
  line_end(&l);
  return p;
}

void free(void* p) {
  RESOLVE("free", void, void*)
  if (next == NULL || is_boot(p)) return;
  struct line l;
  line_begin(&l, "free", CALLER);
  next(p);
  line_pointer(&l, "ptr", p);
  line_end(&l);
}

int posix_memalign(void** out, size_t align, size_t size) {
  NEXT("posix_memalign", int, void**, size_t, size_t);
  struct line l;
  line_begin(&l, "posix_memalign", CALLER);
  const int r = next(out, align, size);
  line_pointer(&l, "memptr", r == 0 ? *out : NULL);
  line_number(&l, "alignment", (long long)align);
  line_number(&l, "size", (long long)size);
  line_number(&l, "return", r);
  line_end(&l);
  return r;
}

void* aligned_alloc(size_t align, size_t size) {
  NEXT("aligned_alloc", void*, size_t, size_t);
  struct line l;
  line_begin(&l, "aligned_alloc", CALLER);
  void* p = next(align, size);
  line_number(&l, "alignment", (long long)align);
  line_number(&l, "size", (long long)size);
  line_pointer(&l, "return", p);
  line_end(&l);
  return p;
}

void* memalign(size_t align, size_t size) {
  NEXT("memalign", void*, size_t, size_t);
  struct line l;
  line_begin(&l, "memalign", CALLER);
  void* p = next(align, size);
  line_number(&l, "alignment", (long long)align);
  line_number(&l, "size", (long long)size);
  line_pointer(&l, "return", p);
  line_end(&l);
  return p;
}

#define LOGGED_PAGES(function)                           \
  void* function(size_t size);                           \
  void* function(size_t size) {                          \
    NEXT(#function, void*, size_t);                      \
    struct line l;                                       \
    line_begin(&l, #function, CALLER);                   \
    void* p = next(size);                                \
    line_number(&l, "size", (long long)size);            \
    line_pointer(&l, "return", p);                       \
    line_end(&l);                                        \
    return p;                                            \
  }
LOGGED_PAGES(valloc)
LOGGED_PAGES(pvalloc)

size_t malloc_usable_size(void* p) {
  NEXT("malloc_usable_size", size_t, void*);
  struct line l;
  line_begin(&l, "malloc_usable_size", CALLER);
  const size_t size = next(p);
  line_pointer(&l, "ptr", p);
  line_number(&l, "return", (long long)size);
  line_end(&l);
  return size;
}

/* What a string function returns has no size among its arguments: it is logged as "bytes". */
char* strdup(const char* s) {
  NEXT("strdup", char*, const char*);
  struct line l;
  line_begin(&l, "strdup", CALLER);
  char* p = next(s);
  line_pointer(&l, "s", s);
  line_number(&l, "bytes", p == NULL ? 0 : (long long)strlen(p) + 1);
  line_pointer(&l, "return", p);
  line_end(&l);
  return p;
}

char* strndup(const char* s, size_t n) {
  NEXT("strndup", char*, const char*, size_t);
  struct line l;
  line_begin(&l, "strndup", CALLER);
  char* p = next(s, n);
  line_pointer(&l, "s", s);
  line_number(&l, "n", (long long)n);
  line_number(&l, "bytes", p == NULL ? 0 : (long long)strlen(p) + 1);
  line_pointer(&l, "return", p);
  line_end(&l);
  return p;
}

wchar_t* wcsdup(const wchar_t* s) {
  NEXT("wcsdup", wchar_t*, const wchar_t*);
  struct line l;
  line_begin(&l, "wcsdup", CALLER);
  wchar_t* p = next(s);
  line_pointer(&l, "s", s);
  line_number(&l, "bytes", p == NULL ? 0 : (long long)((wcslen(p) + 1) * sizeof *p));
  line_pointer(&l, "return", p);
  line_end(&l);
  return p;
}

/* operator new and delete under their C names. A C program may load the C++ library later, out of our sight: malloc is
   what it calls in the end. */
#define LOGGED_NEW(symbol, shown)                        \
  void* symbol(size_t size);                             \
  void* symbol(size_t size) {                            \
    NEXT(#symbol, void*, size_t);                        \
    if (next == NULL) next = malloc;                     \
    struct line l;                                       \
    line_begin(&l, shown, CALLER);                       \
    void* p = next(size);                                \
    line_number(&l, "size", (long long)size);            \
    line_pointer(&l, "return", p);                       \
    line_end(&l);                                        \
    return p;                                            \
  }
LOGGED_NEW(_Znwm, "new")
LOGGED_NEW(_Znam, "new[]")

static void log_delete(const char* shown, const void* caller, void (*next)(void*), void* p) {
  struct line l;
  line_begin(&l, shown, caller);
  next(p);
  line_pointer(&l, "ptr", p);
  line_end(&l);
}
#define LOGGED_DELETE(symbol, shown, plain, ...)         \
  void symbol(void* p __VA_ARGS__);                      \
  void symbol(void* p __VA_ARGS__) {                     \
    NEXT(#plain, void, void*);                           \
    if (next == NULL) next = free;                       \
    log_delete(shown, CALLER, next, p);                  \
  }
#define SIZED , size_t size __attribute__((unused))
LOGGED_DELETE(_ZdlPv, "delete", _ZdlPv)
LOGGED_DELETE(_ZdaPv, "delete[]", _ZdaPv)
LOGGED_DELETE(_ZdlPvm, "delete", _ZdlPv, SIZED)
LOGGED_DELETE(_ZdaPvm, "delete[]", _ZdaPv, SIZED)

void* mmap(void* hint, size_t size, int protection, int flags, int fd, off_t offset) {
  NEXT("mmap", void*, void*, size_t, int, int, int, off_t);
  struct line l;
  line_begin(&l, "mmap", CALLER);
  void* p = next(hint, size, protection, flags, fd, offset);
  line_pointer(&l, "addr", hint);
  line_number(&l, "length", (long long)size);
  line_number(&l, "prot", protection);
  line_number(&l, "flags", flags);
  line_number(&l, "fd", fd);
  line_number(&l, "offset", (long long)offset);
  line_pointer(&l, "return", p == MAP_FAILED ? NULL : p);
  line_end(&l);
  return p;
}

int munmap(void* p, size_t size) {
  NEXT("munmap", int, void*, size_t);
  struct line l;
  line_begin(&l, "munmap", CALLER);
  const int r = next(p, size);
  line_pointer(&l, "addr", p);
  line_number(&l, "length", (long long)size);
  line_number(&l, "return", r);
  line_end(&l);
  return r;
}

void* mremap(void* old, size_t old_size, size_t size, int flags, ...) {
  NEXT("mremap", void*, void*, size_t, size_t, int, ...);
  struct line l;
  line_begin(&l, "mremap", CALLER);
  void* p = next(old, old_size, size, flags);
  line_pointer(&l, "old_address", old);
  line_number(&l, "old_size", (long long)old_size);
  line_number(&l, "new_size", (long long)size);
  line_number(&l, "flags", flags);
  line_pointer(&l, "return", p == MAP_FAILED ? NULL : p);
  line_end(&l);
  return p;
}

/* The break's memory is not followed: only that and with what the calls were made. */
void* sbrk(intptr_t by) {
  NEXT("sbrk", void*, intptr_t);
  struct line l;
  line_begin(&l, "sbrk", CALLER);
  void* p = next(by);
  line_number(&l, "increment", by);
  line_end(&l);
  return p;
}

int brk(void* to) {
  NEXT("brk", int, void*);
  struct line l;
  line_begin(&l, "brk", CALLER);
  const char* before = sbrk(0);
  const int r = next(to);
  line_number(&l, "increment", (const char*)to - before);
  line_number(&l, "return", r);
  line_end(&l);
  return r;
}

/* Threads that the driver starts are not the program's. */
struct start {
  void* (*routine)(void*);
  void* argument;
};
static void* start_muted(void* p) {
  const struct start s = *(struct start*)p;
  mute_thread();
  free(p);
  return s.routine(s.argument);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*), void* argument) {
  NEXT("pthread_create", int, pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  if (!inside_call()) {
    struct line quiet;
    line_begin(&quiet, "", CALLER); /* libc's own allocations for the thread */
    quiet.quiet = 1;
    const int r = next(thread, attributes, routine, argument);
    line_end(&quiet);
    return r;
  }
  struct start* s = malloc(sizeof *s);
  if (s == NULL) return 11;
  s->routine = routine;
  s->argument = argument;
  return next(thread, attributes, start_muted, s);
}
