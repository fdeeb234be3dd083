// Descriptors in somebody else's program: their numbers, and whose they are.
#include "traces/base/own_fd.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "traces/base/standard_files.h"

using namespace gt;

namespace {

Fd some_file() { return Fd(::open("/dev/null", O_RDWR)); }

// In a process of its own, with no descriptors but the standard ones.
template <class Run>
bool in_child(Run run) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (int fd = STDERR_FILENO + 1; fd < 4096; ++fd) ::close(fd);
    ::_exit(run() ? 0 : 1);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool limit_to(rlim_t n) {
  const rlimit limit{n, n};
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

TEST_CASE("a high descriptor leaves the low number free, and is closed by exec") {
  Fd low = some_file();
  const int number = low.get();
  const Fd high = high_fd(std::move(low));
  REQUIRE(high.open());
  CHECK(high.get() >= 900);
  CHECK(high.get() < 4096);
  CHECK((::fcntl(high.get(), F_GETFD) & FD_CLOEXEC));
  CHECK(some_file().get() == number);
  CHECK(!high_fd(Fd()).open());
}

TEST_CASE("whatever the limit, it is never one of the standard ones") {
  for (const rlim_t limit : {1024, 256, 64, 20})
    CHECK(in_child([&] {
      if (!limit_to(limit)) return false;
      const Fd high = high_fd(some_file());
      return high.get() >= static_cast<int>(limit - limit / 16 - 1) && high.get() < static_cast<int>(limit);
    }));
  CHECK(in_child([] {
    for (const int standard : {0, 1, 2}) ::close(standard);
    if (!limit_to(4)) return false;
    return high_fd(some_file()).get() == 3;
  }));
}

TEST_CASE("where no high number is left it is a lower one, and the same where none is left") {
  CHECK(in_child([] {
    if (!limit_to(64)) return false;
    std::vector<Fd> all;
    for (Fd fd = some_file(); fd.open(); fd = some_file()) all.push_back(std::move(fd));
    const int last = all.back().get();
    if (high_fd(std::move(all.back())).get() != last) return false;
    all.pop_back();
    all.erase(all.begin());  // a low one is free, and the last
    return high_fd(some_file()).get() == last;
  }));
}

TEST_CASE("what the program has opened under the number is not ours, and not closed") {
  Fd low = some_file();
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const int number = ends[0];
  {
    const OwnFd own(Fd{number});
    CHECK(own.is_ours());
    REQUIRE(::dup2(low.get(), number) == number);
    CHECK(!own.is_ours());
  }
  CHECK(::fcntl(number, F_GETFD) >= 0);
  ::close(number);
  { const OwnFd own(Fd{ends[1]}); }
  CHECK(::fcntl(ends[1], F_GETFD) < 0);
}

TEST_CASE("reserved standard files give no input and take no output, and are closed by exec") {
  CHECK(in_child([] {
    for (const int standard : {0, 1, 2}) ::close(standard);
    reserve_standard_files();
    char byte = 0;
    bool good = some_file().get() == 3 && ::read(0, &byte, 1) < 0 && ::write(1, "x", 1) < 0 && ::write(2, "x", 1) == 1;
    for (const int standard : {0, 1, 2}) good = good && (::fcntl(standard, F_GETFD) & FD_CLOEXEC);
    return good;
  }));
  CHECK(in_child([] {
    reserve_standard_files();
    return (::fcntl(1, F_GETFD) & FD_CLOEXEC) == 0;
  }));
}

}  // namespace
