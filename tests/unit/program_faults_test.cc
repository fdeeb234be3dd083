// Memory whose pages the program's own handler makes present: copies are right, and never touch two such pages at once.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

#include "transport/staging/copy_threads.h"
#include "transport/staging/program_faults.h"
#include "transport/staging/thread.h"

using namespace gt::staging;

namespace {

constexpr size_t Page = 4096, Granule = 16 * Page, Bytes = size_t{8} << 20;

char* area = nullptr;
bool fills = false;
std::atomic<int> serving{0}, together{0}, faults{0};

const std::vector<char> contents = [] {
  std::vector<char> all(Bytes);
  for (size_t i = 0; i < Bytes; ++i) all[i] = static_cast<char>(i / Page * 3 + i % 251);
  return all;
}();

// Opens many pages first and fills them then.
void on_fault(int, siginfo_t* info, void*) {
  auto* const at = static_cast<char*>(info->si_addr);
  if (at < area || at >= area + Bytes) return static_cast<void>(::signal(SIGSEGV, SIG_DFL));
  if (serving.fetch_add(1) != 0) ++together;
  const size_t first = static_cast<size_t>(at - area) / Granule * Granule;
  ::mprotect(area + first, Granule, PROT_READ | PROT_WRITE);
  if (fills) std::memcpy(area + first, &contents[first], Granule);
  ++faults;
  serving.fetch_sub(1);
}

// An area, and the handler for as long as this lives.
class Area {
 public:
  explicit Area(int protection, bool with_contents) {
    area = static_cast<char*>(::mmap(nullptr, Bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(area != MAP_FAILED);
    fills = with_contents;
    together = faults = 0;
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    REQUIRE(::sigaction(SIGSEGV, &action, &before_) == 0);
    protect(protection);
  }
  ~Area() {
    ::sigaction(SIGSEGV, &before_, nullptr);
    ::munmap(area, Bytes);
  }
  void protect(int protection) { REQUIRE(::mprotect(area, Bytes, protection) == 0); }

 private:
  struct sigaction before_ = {};
};

Copy rows_of(char* to, const char* from, size_t row, size_t pitch, Programs programs) {
  Copy c;
  c.to = to;
  c.from = from;
  c.row_bytes = row;
  c.rows = Bytes / pitch;
  c.to_row_pitch = c.from_row_pitch = pitch;
  c.programs = programs;
  return c;
}

size_t wrong_in(const char* bytes, size_t row, size_t pitch) {
  size_t wrong = 0;
  for (size_t at = 0; at < Bytes; at += pitch) {
    const size_t end = std::min(at + row, Bytes);
    if (std::memcmp(bytes + at, &contents[at], end - at) == 0) continue;
    for (size_t i = at; i < end; ++i) wrong += bytes[i] != contents[i];
  }
  return wrong;
}

}  // namespace

TEST_CASE("threads of ours take faults, and no signal that is sent") {
  sigset_t mask;
  pthread_t thread;
  const auto look = [](void* out) -> void* {
    ::pthread_sigmask(SIG_SETMASK, nullptr, static_cast<sigset_t*>(out));
    return nullptr;
  };
  REQUIRE(start_thread("looks", look, &mask, &thread));
  ::pthread_join(thread, nullptr);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) CHECK(::sigismember(&mask, fault) == 0);
  for (const int sent : {SIGINT, SIGTERM, SIGALRM, SIGCHLD, SIGUSR1, SIGPROF, SIGHUP, SIGABRT, SIGRTMIN})
    CHECK(::sigismember(&mask, sent) == 1);
}

TEST_CASE("a thread of ours has room for a handler") {
  const auto use_stack = [](void*) -> void* {
    volatile char room[512 << 10];
    for (size_t i = 0; i < sizeof room; i += Page) room[i] = 1;
    return nullptr;
  };
  pthread_t thread;
  REQUIRE(start_thread("uses", use_stack, nullptr, &thread));
  ::pthread_join(thread, nullptr);
}

TEST_CASE("what is there without a handler is told from what is not") {
  Area a(PROT_READ | PROT_WRITE, false);
  errno = 17;
  CHECK(faults_are_handled());
  CHECK(is_readable(area + 5, Bytes - 5));
  CHECK(is_writable(area + 5, Bytes - 5));
  REQUIRE(::mprotect(area + 3 * Page, Page, PROT_READ) == 0);
  CHECK(is_readable(area, Bytes));
  CHECK_FALSE(is_writable(area + Page, 2 * Page + 1));
  CHECK(is_writable(area + Page, 2 * Page));
  REQUIRE(::mprotect(area + 3 * Page, Page, PROT_NONE) == 0);
  CHECK_FALSE(is_readable(area + 4 * Page - 1, 1));
  CHECK(is_readable(area + 4 * Page, 1));
  CHECK(faults == 0);
  touch(area + 3 * Page - 1, 2);
  CHECK(faults == 1);
  CHECK(errno == 17);
}

TEST_CASE("of memory that is gone zeros are copied, where the program has no handler") {
  constexpr size_t Pages = 3;
  auto* const memory = static_cast<char*>(
      ::mmap(nullptr, Pages * FaultPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(memory != MAP_FAILED);
  std::memset(memory, 7, Pages * FaultPage);
  REQUIRE(::mprotect(memory + FaultPage, FaultPage, PROT_NONE) == 0);
  struct sigaction before[2] = {}, none = {};
  none.sa_handler = SIG_DFL;
  ::sigaction(SIGSEGV, &none, &before[0]);  // doctest has some
  ::sigaction(SIGBUS, &none, &before[1]);
  std::vector<char> copy(Pages * FaultPage - 100, 1);
  errno = EDOM;
  copy_from_program(copy.data(), memory + 100, copy.size());
  ::sigaction(SIGSEGV, &before[0], nullptr);
  ::sigaction(SIGBUS, &before[1], nullptr);
  CHECK(errno == EDOM);
  for (size_t i = 0; i < copy.size(); ++i) {
    const bool gone = (i + 100) / FaultPage == 1;
    if (copy[i] != (gone ? 0 : 7)) FAIL("byte " << i);
  }
  ::munmap(memory, Pages * FaultPage);
}

TEST_CASE("copies of pages that appear") {
  CopyThreads copy_threads;
  copy_threads.start(3);
  std::vector<char> to(Bytes);
  Area a(PROT_NONE, true);
  for (const size_t pitch : {Bytes, size_t{40000}, size_t{9000}, size_t{70}}) {
    for (const size_t gap : {size_t{0}, size_t{20}, size_t{6000}}) {
      if (gap >= pitch) continue;
      for (int i = 0; i < 5; ++i) {
        a.protect(PROT_NONE);
        std::fill(to.begin(), to.end(), char{0});
        copy_threads.copy(rows_of(to.data(), area, pitch - gap, pitch, Programs::From));
        CHECK(wrong_in(to.data(), pitch - gap, Bytes / pitch > 1 ? pitch : Bytes) <= Bytes % pitch);
      }
    }
  }
  CHECK(faults > 100);
  CHECK(together == 0);
}

TEST_CASE("copies to pages that are watched for writes") {
  CopyThreads copy_threads;
  copy_threads.start(3);
  const std::vector<char>& from = contents;
  Area a(PROT_READ, false);
  for (const size_t pitch : {Bytes, size_t{32768}}) {
    for (int i = 0; i < 10; ++i) {
      a.protect(PROT_READ | PROT_WRITE);
      std::memset(area, 0, Bytes);
      a.protect(PROT_READ);
      Copy c = rows_of(area, from.data(), pitch, pitch, Programs::To);
      c.streaming = i % 2;
      copy_threads.copy(c);
      CHECK(wrong_in(area, pitch, pitch) == 0);
    }
  }
  CHECK(faults > 100);
  CHECK(together == 0);
}

TEST_CASE("pages that are there are copied by several threads all the same") {
  CopyThreads copy_threads;
  copy_threads.start(3);
  std::vector<char> to(Bytes);
  Area a(PROT_READ | PROT_WRITE, false);
  std::memset(area, 1, Bytes);
  const uint64_t before = copy_threads.pieces_helped();
  for (int i = 0; i < 50; ++i) copy_threads.copy(rows_of(to.data(), area, Bytes, Bytes, Programs::From));
  CHECK(copy_threads.pieces_helped() > before);
  CHECK(faults == 0);
}
