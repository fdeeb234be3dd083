// Where a thread's stack lies: against what the C library says of the same thread.
#include <doctest/doctest.h>

#include <pthread.h>
#include <sys/mman.h>

#include <cstdlib>
#include <initializer_list>
#include <vector>

#include "tests/unit/libcs_stack.h"

using gt::tracer::own_stack;
using gt::tracer::Stack;

namespace {

struct Both {
  Stack ours, libcs;
};

void* ask(void* p) {
  *static_cast<Both*>(p) = {own_stack(false), libcs_stack()};
  return nullptr;
}

Both of_thread(const pthread_attr_t* attributes) {
  Both both;
  pthread_t thread;
  REQUIRE(pthread_create(&thread, attributes, ask, &both) == 0);
  REQUIRE(pthread_join(thread, nullptr) == 0);
  return both;
}

}  // namespace

TEST_CASE("the first thread's stack grows as far as the limit, and ends below the arguments") {
  const Stack ours = own_stack(true), theirs = libcs_stack();
  const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  CHECK(ours.low <= here);
  CHECK(here < ours.high);
  CHECK(ours.high <= theirs.high);
  CHECK(ours.high > theirs.high - 4096);
  CHECK(ours.low >= theirs.low - (1 << 20));  // libc counts the limit from a page further up
  CHECK(ours.low <= theirs.low + (1 << 20));
}

TEST_CASE("another thread's stack is its own, whatever lies beside it") {
  for (const size_t bytes : {size_t{0}, size_t{64} << 10, size_t{3} << 20}) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (bytes) pthread_attr_setstacksize(&attributes, bytes);
    const Both both = of_thread(&attributes);
    CHECK(both.ours.low == both.libcs.low);
    CHECK(both.ours.high == both.libcs.high);
    pthread_attr_destroy(&attributes);
  }
}

TEST_CASE("a stack that the program has made is found with what it was made of") {
  constexpr size_t Bytes = 256 << 10;
  void* memory = mmap(nullptr, Bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  REQUIRE(pthread_attr_setstack(&attributes, memory, Bytes) == 0);
  const Both both = of_thread(&attributes);
  CHECK(both.ours.low <= both.libcs.low);
  CHECK(both.ours.high == both.libcs.high);
  pthread_attr_destroy(&attributes);
  munmap(memory, Bytes);
}
