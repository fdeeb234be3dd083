// Large copies that are shared out: every byte, from several threads at a time, and in a child of fork(), where the
// threads that helped are not.
#include "transport/staging/node_copy.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <thread>
#include <vector>

namespace gt::staging {
namespace {

std::vector<char> pattern(size_t bytes) {
  std::vector<char> p(bytes);
  auto seed = static_cast<uint32_t>(bytes);
  for (char& c : p) c = static_cast<char>((seed = seed * 1664525u + 1013904223u) >> 24);
  return p;
}

bool copies(size_t bytes) {
  const std::vector<char> from = pattern(bytes);
  std::vector<char> to(bytes + 2, 7);
  copy_in_node(to.data() + 1, from.data(), bytes);
  return to.front() == 7 && to.back() == 7 && std::equal(from.begin(), from.end(), to.begin() + 1);
}

TEST_CASE("every byte and no other") {
  for (const size_t bytes : {0, 1, 4095, 1 << 20, (1 << 20) + 1, 9'999'999}) CHECK(copies(static_cast<size_t>(bytes)));
}

TEST_CASE("from several threads at a time") {
  std::vector<std::thread> threads;
  std::vector<int> good(6);
  for (int& g : good)
    threads.emplace_back([&g] {
      for (int i = 0; i < 20; ++i) g += copies((size_t{1} << 20) + static_cast<size_t>(i));
    });
  for (std::thread& t : threads) t.join();
  for (const int g : good) CHECK(g == 20);
}

TEST_CASE("in a child of fork()") {
  CHECK(copies(1 << 22));  // the threads are there
  const pid_t child = ::fork();
  if (child == 0) ::_exit(copies(1 << 22) ? 0 : 1);
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

}  // namespace
}  // namespace gt::staging
