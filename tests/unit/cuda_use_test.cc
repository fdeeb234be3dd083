// What a process does at its end, and a child of it does at all, while a thread of ours is inside the CUDA driver: in
// processes of their own, which tell by their exit status what they saw.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "transport/moves/cuda.h"

using namespace gt::moves;

namespace {

enum Seen { Nothing = 3, AllOutside, SomeInside, Entered };  // none of them what a process ends with by itself

template <class Run>
int status_of(Run run) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    run();
    ::_exit(Nothing);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

// The driver: its handler takes apart what a thread inside would still use.
std::atomic<bool> g_inside{false};
void take_apart() {
  if (g_inside) ::_exit(SomeInside);
  const cuda::Use late;
  ::_exit(late.allowed() ? Entered : AllOutside);
}

void leave_with_one_inside(bool holds_use) {
  std::atexit(take_apart);
  if (!cuda::wait_at_exit()) ::_exit(Nothing);
  std::thread([holds_use] {
    const auto stay = [] {
      g_inside = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      g_inside = false;
    };
    if (!holds_use) return stay();
    const cuda::Use use;
    stay();
  }).detach();
  while (!g_inside) std::this_thread::yield();
  std::exit(0);
}

}  // namespace

TEST_CASE("the process does not end while a thread is inside the driver, and no other enters then") {
  CHECK(status_of([] { leave_with_one_inside(true); }) == AllOutside);
  CHECK(status_of([] { leave_with_one_inside(false); }) == SomeInside);  // so this test sees it
}

TEST_CASE("a child of the process that loaded the driver may not enter") {
  const int status = status_of([] {
    if (!cuda::wait_at_exit() || !cuda::Use().allowed()) ::_exit(Nothing);
    ::_exit(status_of([] { ::_exit(cuda::Use().allowed() ? Entered : AllOutside); }));
  });
  CHECK(status == AllOutside);
}
