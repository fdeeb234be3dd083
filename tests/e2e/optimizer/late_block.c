/* A library whose one allocation site feeds transfers: tests/e2e/optimizer/late_library.c loads it. */
#include <stdlib.h>

void* late_block(size_t bytes);
void* late_block(size_t bytes) {
  void* p = malloc(bytes);
  if (!p) abort();
  return p;
}
