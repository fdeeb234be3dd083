// A program with an allocator of its own, incompatible with libc's: what libc allocates for it
// comes from here too.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Alignas(16) char pool[8 << 20];
static size_t used;
static int foreign;

void* malloc(size_t n) {
  size_t* p = (size_t*)(pool + used);
  used += (n + 31) & ~(size_t)15;
  if (used > sizeof pool) abort();
  p[0] = n;
  return p + 2;
}
void free(void* p) {
  if (p && ((char*)p < pool || (char*)p >= pool + sizeof pool)) foreign = 1;
}
void* calloc(size_t a, size_t b) { return memset(malloc(a * b), 0, a * b); }
void* realloc(void* p, size_t n) {
  void* q = malloc(n);
  if (p) memcpy(q, p, ((size_t*)p)[-2] < n ? ((size_t*)p)[-2] : n);
  return q;
}

int main(void) {
  char* text = NULL;
  const int length = asprintf(&text, "%d words", 42);
  text = realloc(strcat(realloc(text, 100), "!"), 50);
  void* library = dlopen("libm.so.6", RTLD_NOW);
  if (!library || !dlsym(library, "cos") || dlsym(library, "no such thing") || !dlerror()) return 1;
  dlclose(library);
  printf("%d %s foreign %d\n", length, text, foreign);
  free(text);
  return 0;
}
