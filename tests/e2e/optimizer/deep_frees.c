// A library that is loaded with RTLD_DEEPBIND: what it calls of libc is libc's, whoever is preloaded.
#define _GNU_SOURCE
#include <malloc.h>
#include <stdlib.h>

void deep_free(void* p) { free(p); }
void* deep_realloc(void* p, size_t size) { return realloc(p, size); }
void* deep_reallocarray(void* p, size_t n, size_t size) { return reallocarray(p, n, size); }
size_t deep_usable_size(void* p) { return malloc_usable_size(p); }
void* deep_malloc(size_t size) { return malloc(size); }
