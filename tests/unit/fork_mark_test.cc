// Who is a forked child: by whichever system call, whoever looks first.
#include "traces/base/fork_mark.h"

#include <doctest/doctest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <thread>
#include <vector>

using gt::ForkMark;

namespace {

// The exit status of a child that forks again: 3 when both know.
int status_of(pid_t child, const ForkMark& mark) {
  if (child == 0) {
    const bool known = mark.in_child() && !ForkMark::here().in_child();
    const pid_t grandchild = ::fork();
    if (grandchild == 0) ::_exit(mark.in_child() ? 1 : 0);
    int status = 0;
    ::waitpid(grandchild, &status, 0);
    ::_exit((known ? 2 : 0) | WEXITSTATUS(status));
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("children know, the parent and its threads stay") {
  ForkMark mark;
  CHECK(mark.in_child());
  mark = ForkMark::here();
  CHECK_FALSE(mark.in_child());
  CHECK(status_of(::fork(), mark) == 3);
  CHECK(status_of(static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)), mark) == 3);
  CHECK_FALSE(mark.in_child());
  bool elsewhere = true;
  std::thread([&] { elsewhere = mark.in_child(); }).join();
  CHECK_FALSE(elsewhere);
}

TEST_CASE("each process has marks of its own, and its threads agree on them") {
  const ForkMark parents = ForkMark::here();
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr int Threads = 8;
    uint32_t seen[Threads];
    std::vector<std::thread> threads;
    for (uint32_t& s : seen) threads.emplace_back([&s] { s = gt::fork_generation(); });
    for (std::thread& t : threads) t.join();
    const ForkMark own = ForkMark::here();
    const bool agreed = std::all_of(seen, seen + Threads, [&](uint32_t s) { return s == seen[0] && s != 0; });
    const pid_t grandchild = ::fork();
    if (grandchild == 0) ::_exit(own.in_child() && parents.in_child() ? 0 : 1);
    int status = 0;
    ::waitpid(grandchild, &status, 0);
    ::_exit(agreed && !own.in_child() && parents.in_child() && status == 0 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK_FALSE(parents.in_child());
}
