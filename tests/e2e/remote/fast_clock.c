/* Preloaded: the monotonic clock of this process gains 2 % from its start on. */
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int64_t g_start;

static int64_t read_clock(clockid_t id, struct timespec* t) {
  return syscall(SYS_clock_gettime, id, t) ? -1 : t->tv_sec * INT64_C(1000000000) + t->tv_nsec;
}

__attribute__((constructor)) static void start(void) {
  struct timespec t;
  g_start = read_clock(CLOCK_MONOTONIC, &t);
}

int clock_gettime(clockid_t id, struct timespec* t) {
  int64_t ns = read_clock(id, t);
  if (ns < 0) return -1;
  if (id != CLOCK_MONOTONIC && id != CLOCK_MONOTONIC_RAW) return 0;
  if (g_start != 0 && ns > g_start) ns += (ns - g_start) / 50;
  t->tv_sec = ns / 1000000000;
  t->tv_nsec = ns % 1000000000;
  return 0;
}
