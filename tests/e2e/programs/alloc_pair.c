// Prints the nanoseconds that malloc and free of one block take together, for some sizes: medians
// of many rounds.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { Rounds = 51, Pairs = 20000 };

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double pair_ns(size_t size) {
  static double times[Rounds];
  for (int r = 0; r < Rounds; ++r) {
    const double begin = now_ns();
    for (int i = 0; i < Pairs; ++i) {
      void* volatile p = malloc(size);
      free(p);
    }
    times[r] = (now_ns() - begin) / Pairs;
  }
  qsort(times, Rounds, sizeof times[0], by_value);
  return times[Rounds / 2];
}

int main(void) {
  const size_t sizes[] = {16, 256, 4096, 100000};
  for (int i = 0; i < 4; ++i) printf("%zu %.2f\n", sizes[i], pair_ns(sizes[i]));
  return 0;
}
