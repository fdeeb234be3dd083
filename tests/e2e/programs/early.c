// A library that allocates in its constructor, before the constructors of libraries that were
// preloaded before it.
#include <stdlib.h>
#include <string.h>

static char* kept[200];

__attribute__((constructor)) static void begin(void) {
  for (int i = 0; i < 200; ++i) {
    kept[i] = malloc(1000);
    memset(kept[i], i, 1000);
    kept[i] = realloc(kept[i], 2000);
  }
}

int early_is_intact(void) {
  for (int i = 0; i < 200; ++i) {
    for (int k = 0; k < 1000; ++k) {
      if (kept[i][k] != (char)i) return 0;
    }
    free(kept[i]);
  }
  return 1;
}
