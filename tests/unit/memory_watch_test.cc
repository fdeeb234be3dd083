// When memory is short: what /proc says, how often it is asked, how much is missing.
#include "optimizer-rt/pool/memory_watch.h"

#include <doctest/doctest.h>

using namespace gt::opt;

namespace {

constexpr size_t MiB = size_t{1} << 20;
size_t left = 0;
int asked = 0;
size_t planted(size_t) { return ++asked, left; }

}  // namespace

TEST_CASE("what /proc says") {
  CHECK(available_in("MemTotal:  10 kB\nMemFree: 5 kB\nMemAvailable:    7 kB\nBuffers: 1 kB\n") == 7 * 1024);
  CHECK(available_in("MemTotal:  10 kB\nMemFree: 5 kB\n") == SIZE_MAX);
  CHECK(available_in("MemAvailable: many kB") == SIZE_MAX);
  CHECK(available_in("MemAvailable: 99999999999999999999 kB") == SIZE_MAX);
  CHECK(available_in("") == SIZE_MAX);
  CHECK(resident_in("1000 321 7 1 0 9 0", 4096) == 321 * 4096);
  CHECK(resident_in("1000", 4096) == 0);
  CHECK(resident_in("", 4096) == 0);
}

TEST_CASE("this machine has memory left, and no more than the limit") {
  CHECK(memory_left(SIZE_MAX) > MiB);
  CHECK(memory_left(64 * MiB) < 64 * MiB);
  CHECK(memory_left(1) == 0);
}

TEST_CASE("missing is what lacks to a sixteenth, asked at most fifty times a second") {
  MemoryWatch watch;
  CHECK(watch.missing(1, planted) == 0);  // not open
  watch.open(1600 * MiB);
  asked = 0;
  left = 101 * MiB;
  CHECK(watch.missing(1'000'000'000, planted) == 0);
  left = 30 * MiB;
  CHECK(watch.missing(1'000'000'001, planted) == 0);
  CHECK(watch.missing(1'019'999'999, planted) == 0);
  CHECK(asked == 1);
  CHECK(watch.missing(1'020'000'000, planted) == 70 * MiB);
  CHECK(watch.missing(1'020'000'001, planted) == 0);
  CHECK(asked == 2);
}
