/* Calls every allocation function of C with arguments that a test knows, one after the other; its argument is a file to
   map. Built without the compiler's own ideas of these functions. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <wchar.h>

static void* volatile sink;
static volatile size_t huge = SIZE_MAX / 2;

static void blocks(void) {
  void *p = malloc(100), *q = NULL;
  p = realloc(p, 200);
  p = reallocarray(p, 3, 50);
  sink = realloc(p, huge);
  free(p);
  free(NULL);
  free(realloc(NULL, 5));
  p = malloc(9);
  sink = realloc(p, 0);
  free(calloc(7, 11));
  sink = calloc(huge, 16);
  free(memalign(64, 33));
  free(aligned_alloc(32, 96));
  if (posix_memalign(&q, 128, 44) == 0) free(q);
  sink = NULL;
  if (posix_memalign(&q, 3, 45) == 0) abort();
  free(valloc(46));
  free(pvalloc(47));
  p = malloc(48);
  if (malloc_usable_size(p) < 48) abort();
  free(p);
}

static void strings(void) {
  char on_stack[] = "a text on the stack";
  free(strdup("static text"));
  free(strndup(on_stack, 6));
  free(wcsdup(L"wide"));
}

static void mappings(const char* file) {
  const int rw = PROT_READ | PROT_WRITE;
  char* p = mmap(NULL, 8 * 4096, rw, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(p, 4096);                /* its first page */
  munmap(p + 2 * 4096, 4096);     /* a hole */
  munmap(p + 4096, 4096);         /* what was before the hole */
  munmap(p + 3 * 4096, 5 * 4096); /* the rest */
  munmap(p + 1, 4096);            /* no page */
  p = mmap(NULL, 4096, rw, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  p = mremap(p, 4096, 3 * 4096, MREMAP_MAYMOVE);
  munmap(p, 3 * 4096);
  sink = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 9999, 0);
  const int fd = open(file, O_RDONLY);
  p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  munmap(p, 4096);
}

static void program_break(void) {
  char* p = sbrk(8192);
  sbrk(-4096);
  sbrk(0);
  if (brk(p) != 0) abort();
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  blocks();
  strings();
  mappings(argv[1]);
  program_break();
  return 0;
}
