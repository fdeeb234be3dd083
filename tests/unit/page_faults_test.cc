// Pages that are kept in step, beside a program's own handlers of SIGSEGV, its children, and its mistakes.
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csetjmp>
#include <functional>

#include "tests/unit/fake_pages.h"

using namespace gt;
using namespace gt::test;

namespace {

// How a child ends that does this; its own handlers to begin with.
int status_of(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    struct sigaction none = {};
    ::sigaction(SIGSEGV, &none, nullptr);  // doctest's, and ours before it
    body();
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}
bool ended_by(int status, int signal) { return WIFSIGNALED(status) && WTERMSIG(status) == signal; }
bool exited(int status, int code) { return WIFEXITED(status) && WEXITSTATUS(status) == code; }

volatile uint8_t* const Wild = reinterpret_cast<volatile uint8_t*>(uintptr_t{0x10});

void exit_with_3(int) { ::_exit(3); }

sigjmp_buf g_back;
siginfo_t g_info;
sigset_t g_mask;
void* g_stack_at;
void remember(int, siginfo_t* info, void*) {
  g_info = *info;
  g_stack_at = &info;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &g_mask);
  siglongjmp(g_back, 1);
}

void handle(void (*handler)(int, siginfo_t*, void*), int flags, struct sigaction* before = nullptr) {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  sigaddset(&action.sa_mask, SIGUSR2);
  ::sigaction(SIGSEGV, &action, before);
}

}  // namespace

TEST_CASE("a program that crashes does so as without us") {
  CHECK(ended_by(status_of([] {
                   FakePages pages(4);
                   const auto range = pages.range();
                   *Wild = 1;
                 }),
                 SIGSEGV));
  CHECK(ended_by(status_of([] {
                   FakePages pages(4);
                   const auto range = pages.range();
                   ::raise(SIGSEGV);
                 }),
                 SIGSEGV));
  CHECK(exited(status_of([] {
                 ::signal(SIGSEGV, SIG_IGN);
                 FakePages pages(4);
                 const auto range = pages.range();
                 ::raise(SIGSEGV);  // which is ignored; an access is not
                 ::_exit(5);
               }),
               5));
  CHECK(ended_by(status_of([] {
                   ::signal(SIGSEGV, SIG_IGN);
                   FakePages pages(4);
                   const auto range = pages.range();
                   *Wild = 1;
                 }),
                 SIGSEGV));
  CHECK(ended_by(status_of([] {  // what was freed
                   FakePages pages(4);
                   auto range = pages.range();
                   volatile uint8_t* const p = &byte_of(*range, 0);
                   range.reset();
                   *p = 1;
                 }),
                 SIGSEGV));
}

TEST_CASE("the program's handler gets what is its own: address, mask, stack") {
  CHECK(exited(status_of([] {
                 alignas(16) static char stack[65536];
                 const stack_t alternative{.ss_sp = stack, .ss_flags = 0, .ss_size = sizeof stack};
                 ::sigaltstack(&alternative, nullptr);
                 handle(&remember, SA_ONSTACK);
                 FakePages pages(4);
                 const auto range = pages.range();
                 range->invalidate();
                 if (byte_of(*range, 0) != 0) ::_exit(10);
                 if (sigsetjmp(g_back, 1) == 0) *Wild = 1;
                 if (g_info.si_addr != reinterpret_cast<const void*>(uintptr_t{0x10})) ::_exit(11);
                 if (!sigismember(&g_mask, SIGSEGV) || !sigismember(&g_mask, SIGUSR2) || sigismember(&g_mask, SIGUSR1))
                   ::_exit(12);
                 if (g_stack_at < stack || g_stack_at >= stack + sizeof stack) ::_exit(13);
                 sigset_t now;
                 ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
                 if (sigismember(&now, SIGSEGV)) ::_exit(14);
                 range->invalidate();
                 if (byte_of(*range, Page) != 0) ::_exit(15);
               }),
               0));
}

TEST_CASE("a handler without SA_ONSTACK runs on the thread's stack, SA_NODEFER and SA_RESETHAND hold") {
  CHECK(exited(status_of([] {
                 alignas(16) static char stack[65536];
                 const stack_t alternative{.ss_sp = stack, .ss_flags = 0, .ss_size = sizeof stack};
                 ::sigaltstack(&alternative, nullptr);
                 handle(&remember, SA_NODEFER);
                 FakePages pages(4);
                 const auto range = pages.range();
                 if (sigsetjmp(g_back, 1) == 0) *Wild = 1;
                 if (g_stack_at >= stack && g_stack_at < stack + sizeof stack) ::_exit(11);
                 if (sigismember(&g_mask, SIGSEGV)) ::_exit(12);
               }),
               0));
  CHECK(ended_by(status_of([] {
                   handle(&remember, static_cast<int>(SA_RESETHAND));
                   FakePages pages(4);
                   const auto range = pages.range();
                   if (sigsetjmp(g_back, 1) == 0) *Wild = 1;
                   *Wild = 1;
                   ::_exit(1);
                 }),
                 SIGSEGV));
}

namespace {
struct sigaction g_found;
void ask_who_was_before(int signal, siginfo_t* info, void* context) {
  if (info->si_addr == reinterpret_cast<const void*>(uintptr_t{0x10})) ::_exit(7);
  g_found.sa_sigaction(signal, info, context);
}
}  // namespace

TEST_CASE("a handler that comes later: we are asked first again, and it may ask us") {
  CHECK(exited(status_of([] {
                 FakePages pages(64);
                 const auto range = pages.range();
                 handle(&ask_who_was_before, 0, &g_found);
                 range->invalidate();
                 if (byte_of(*range, 0) != 0) ::_exit(1);
                 for (int i = 0; i < 100; ++i) {  // set again and again
                   ::signal(SIGSEGV, exit_with_3);
                   range->invalidate();
                   touch(*range, 0);
                   handle(&ask_who_was_before, 0);
                   range->invalidate();
                   touch(*range, 0);
                 }
                 *Wild = 1;
               }),
               7));
  CHECK(exited(status_of([] {  // nobody has asked us since: it gets our page, and hands it on
                 FakePages pages(64);
                 const auto range = pages.range();
                 range->invalidate();
                 handle(&ask_who_was_before, 0, &g_found);
                 if (byte_of(*range, 0) != 0) ::_exit(1);
               }),
               0));
}

TEST_CASE("errno stays, also where a handler of ours ran") {
  FakePages pages(4);
  const auto range = pages.range();
  range->invalidate();
  errno = 77;
  touch(*range, 0);
  CHECK(errno == 77);
}

TEST_CASE("what the program protects itself is its own business") {
  CHECK(exited(status_of([] {
                 handle(&remember, 0);
                 FakePages pages(8);
                 const auto range = pages.range();
                 byte_of(*range, 0) = 1;
                 ::mprotect(range->program_view(), Page, PROT_READ);
                 if (sigsetjmp(g_back, 1) == 0) {
                   byte_of(*range, 0) = 2;
                   ::_exit(1);
                 }
                 pages.send(*range);  // Clean
                 ::mprotect(range->program_view(), Page, PROT_NONE);
                 if (sigsetjmp(g_back, 1) == 0) {
                   touch(*range, 0);
                   ::_exit(2);
                 }
                 ::munmap(range->program_view() + 4 * Page, Page);
                 if (sigsetjmp(g_back, 1) == 0) {
                   touch(*range, 4 * Page);
                   ::_exit(3);
                 }
                 range->invalidate();
                 if (byte_of(*range, 5 * Page) != 0) ::_exit(4);
               }),
               0));
}

TEST_CASE("a child has a copy, with which it may do anything, and fetches nothing") {
  FakePages pages(64);
  auto range = pages.range();
  byte_of(*range, 0) = 1;
  byte_of(*range, 9 * Page) = 2;
  pages.send(*range);
  range->invalidate(8 * Page, 8 * Page);
  pages.device[9 * Page] = 3;
  const int status = status_of([&] {
    if (byte_of(*range, 0) != 1) ::_exit(1);
    if (byte_of(*range, 9 * Page) != 2) ::_exit(2);  // what is there
    byte_of(*range, 0) = 50;
    byte_of(*range, 9 * Page) = 50;
    byte_of(*range, 60 * Page) = 50;
    if (pages.send(*range) != 0) ::_exit(3);
    range->invalidate();
    if (byte_of(*range, 60 * Page) != 50) ::_exit(4);
    FakePages others(4);
    const auto own = others.range();  // it may begin anew
    own->invalidate();
    others.device[0] = 9;
    if (byte_of(*own, 0) != 9) ::_exit(5);
    range.reset();
    ::_exit(42);
  });
  CHECK(exited(status, 42));
  CHECK(byte_of(*range, 0) == 1);
  CHECK(byte_of(*range, 9 * Page) == 3);
  CHECK(byte_of(*range, 60 * Page) == 0);
}

TEST_CASE("system calls say EFAULT for what they may not touch, and bring() opens it") {
  FakePages pages(4);
  const auto range = pages.range();
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  range->invalidate();
  CHECK(range->counts().absent == 4);
  CHECK(::write(ends[1], range->program_view(), 8) == -1);
  CHECK(errno == EFAULT);
  CHECK(range->bring(0, Page, virt::TrackedRange::For::Reading));
  CHECK(::write(ends[1], range->program_view(), 8) == 8);
  CHECK(::read(ends[0], range->program_view(), 8) == -1);
  CHECK(range->bring(0, Page, virt::TrackedRange::For::Writing));
  CHECK(::write(ends[1], range->program_view(), 8) == 8);
  CHECK(::read(ends[0], range->program_view(), 8) == 8);
  ::close(ends[0]);
  ::close(ends[1]);
}
