// Which helpers of a copy are called: those for whom there is an idle processor.
#include "transport/staging/machine_load.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "transport/staging/copy_threads.h"

using namespace gt::staging;

namespace {

constexpr uint64_t Later = MachineLoad::Interval_ns;

template <unsigned N>
unsigned running() {
  return N;
}
unsigned never_asked() {
  FAIL("asked too soon");
  return 0;
}

unsigned idle_now = 0, most_ours = 0, asked = 0;
unsigned idle(unsigned ours) {
  ++asked;
  most_ours = std::max(most_ours, ours);
  return idle_now;
}

// Copies with the caller and two helpers while so many processors are idle. Was all of it copied?
bool copies(CopyThreads& copy_threads, unsigned idle, size_t bytes) {
  idle_now = idle;
  const std::vector<char> from(bytes, 'a');
  std::vector<char> to(bytes);
  Copy c;
  c.to = to.data();
  c.from = from.data();
  c.row_bytes = bytes;
  copy_threads.copy(c);
  return from == to;
}

}  // namespace

TEST_CASE("the kernel's count of running threads is read, and nothing else") {
  CHECK(running_in("0.20 0.18 0.12 1/80 11206\n") == 1);
  CHECK(running_in("9.20 9.18 9.12 37/1280 11206\n") == 37);
  for (const char* text : {"", "/", " /", "0.20 0.18 0.12", "0.20 x/80 1", "0.20 1x/80 1", "1 99999999999/80 1"})
    CHECK(running_in(text) == 0);
  CHECK(running_threads() > 0);  // us
}

TEST_CASE("processors are idle that nobody but us wants") {
  MachineLoad load;
  load.open(16);
  CHECK(load.idle(1, 5, running<1>) == 16);
  CHECK(load.idle(1, 5 + Later, running<4>) == 13);
  CHECK(load.idle(3, 5 + 2 * Later, running<4>) == 15);
  CHECK(load.idle(1, 5 + 3 * Later, running<17>) == 0);
  CHECK(load.idle(1, 5 + 4 * Later, running<1000>) == 0);
  CHECK(load.idle(4, 5 + 5 * Later, running<1>) == 16);  // helpers that were awake when we counted
  CHECK(load.idle(4, 5 + 6 * Later, running<0>) == 16);  // the kernel does not say
}

TEST_CASE("the kernel is asked once in an interval, and what it said stands until then") {
  MachineLoad load;
  load.open(8);
  CHECK(load.idle(1, 100, running<3>) == 6);
  CHECK(load.idle(2, 99 + Later, never_asked) == 6);
  CHECK(load.idle(1, 100 + Later, running<2>) == 7);
}

TEST_CASE("on a busy machine nobody is called to help") {
  CopyThreads copy_threads;
  copy_threads.start(2, idle);
  asked = most_ours = 0;
  for (int i = 0; i < 100; ++i) REQUIRE(copies(copy_threads, static_cast<unsigned>(i % 2), size_t{4} << 20));
  CHECK(asked == 100);
  CHECK(copy_threads.pieces_helped() == 0);
  for (int i = 0; i < 20; ++i) REQUIRE(copies(copy_threads, 2, size_t{4} << 20));
  CHECK(asked == 120);
  CHECK(most_ours <= 3);
}

TEST_CASE("a copy in one piece asks nobody") {
  CopyThreads copy_threads;
  copy_threads.start(2, idle);
  asked = 0;
  CHECK(copies(copy_threads, 2, 1000));
  CHECK(asked == 0);
}
