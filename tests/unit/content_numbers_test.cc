// Content numbers: by first appearance, in bounded memory.
#include <doctest/doctest.h>

#include "tracer/collect/content_numbers.h"

using gt::tracer::ContentNumbers;

TEST_CASE("the same content has the same number, the first one 0") {
  ContentNumbers numbers;
  CHECK(numbers(17, 4) == 0);
  CHECK(numbers(18, 4) == 1);
  CHECK(numbers(17, 4) == 0);
  CHECK(numbers(17, 8) == 2);  // the same hash of more bytes
  CHECK(numbers(0, 0) == 3);
  CHECK(numbers(0, 0) == 3);
  CHECK(numbers.forgotten() == 0);
}

TEST_CASE("what is used again is remembered, the rest is forgotten and counted") {
  constexpr size_t Most = 100;
  ContentNumbers numbers(Most);
  const int64_t often = numbers(1, 1);
  for (uint64_t i = 0; i < 10 * Most; ++i) {
    CHECK(numbers(1000 + i, 1) == static_cast<int64_t>(i + 1));
    CHECK(numbers(1, 1) == often);
  }
  const uint64_t forgotten = numbers.forgotten();
  CHECK(forgotten >= 8 * Most - 10);
  CHECK(forgotten <= 9 * Most);
  CHECK(numbers(1000 + 10 * Most - 1, 1) == 10 * Most);  // the last one
  CHECK(numbers(1000, 1) == 10 * Most + 1);              // the first one is a new one now
}
