// Who is a forked child: by whichever system call.
#include "optimizer-rt/pool/fork_mark.h"

#include <doctest/doctest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

using gt::opt::ForkMark;

namespace {

// The exit status of a child that forks again: 3 when both know.
int status_of(pid_t child, const ForkMark& mark) {
  if (child == 0) {
    const bool known = mark.in_child();
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
  mark.open();
  CHECK_FALSE(mark.in_child());
  CHECK(status_of(::fork(), mark) == 3);
  CHECK(status_of(static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)), mark) == 3);
  CHECK_FALSE(mark.in_child());
  bool elsewhere = true;
  std::thread([&] { elsewhere = mark.in_child(); }).join();
  CHECK_FALSE(elsewhere);
}
