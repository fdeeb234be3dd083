// Memory that was allocated here and is released where no preloaded free() is seen: by a library loaded with
// RTLD_DEEPBIND, and through dlsym on libc itself. Says what it saw; the optimizer must not change a byte of it.
//
//   foreign_free LIBRARY [late]     late: the memory is allocated after the library was loaded only
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { Bytes = 3 << 20 };

static void* g_library;

static void* function(void* library, const char* name) {
  void* f = dlsym(library, name);
  if (!f) exit(77);
  return f;
}

static char* block(void) {
  char* p = malloc(Bytes);
  if (p) memset(p, 'x', Bytes);
  return p;
}

static int kept(const char* p, size_t n) {
  for (size_t i = 0; i < n; ++i)
    if (p[i] != 'x') return 0;
  return 1;
}

static void load(const char* path) {
  g_library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (!g_library) exit(77);
}

static void release_with(const char* who, void (*release)(void*), void* (*resize)(void*, size_t),
                         void* (*resize_array)(void*, size_t, size_t), size_t (*usable)(void*), char* p) {
  printf("%s: usable %d\n", who, usable(p) >= Bytes);
  p = resize(p, 2 * Bytes);
  printf("%s: grown kept %d\n", who, kept(p, Bytes));
  p = resize(p, 100);
  printf("%s: shrunk kept %d\n", who, kept(p, 100));
  release(p);
  p = resize_array(block(), 3, Bytes);
  printf("%s: array kept %d\n", who, kept(p, Bytes));
  p = realloc(p, 10);
  printf("%s: back here kept %d\n", who, kept(p, 10));
  release(p);
  release(block());
  release(NULL);
  p = resize(NULL, 40);
  release(p);
}

static void* in_a_thread(void* release) {
  for (int i = 0; i < 50; ++i) ((void (*)(void*))release)(block());
  return NULL;
}

int main(int argc, char** argv) {
  const int late = argc > 2;
  if (late) load(argv[1]);
  char* early = block();
  char* second = block();
  if (!late) load(argv[1]);
  void (*deep_free)(void*) = function(g_library, "deep_free");
  void* (*deep_malloc)(size_t) = function(g_library, "deep_malloc");
  release_with("deep", deep_free, function(g_library, "deep_realloc"), function(g_library, "deep_reallocarray"),
               function(g_library, "deep_usable_size"), early);
  if (!late) {
    void* libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    release_with("libc", function(libc, "free"), function(libc, "realloc"), function(libc, "reallocarray"),
                 function(libc, "malloc_usable_size"), second);
  } else {
    deep_free(second);
  }
  free(deep_malloc(1000));
  free(deep_malloc(Bytes));
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, in_a_thread, (void*)deep_free);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  puts("done");
  return 0;
}
