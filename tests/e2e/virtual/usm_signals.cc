// Unified shared memory in programs that fork, and that have handlers of SIGSEGV of their own. Prints what came of it,
// "NO" where that is wrong.
//
// Usage: usm_signals fork|handler|crash
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <thread>

#include "tests/e2e/virtual/usm_program.h"

namespace {

constexpr size_t Bytes = OddBytes;

// --- fork ---

int end_of(pid_t child) {
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void forked() {
  auto* const p = allocate(Kind::Shared, Bytes);
  write_counted(p, Bytes, 3);
  count(p, Bytes, 1);
  CHECK(clFinish(g_queue));
  const uint8_t there = p[10];  // some pages are here again, others are not
  const pid_t child = ::fork();
  if (child == 0) {
    const bool same = p[10] == there;
    p[10] = 77;
    uint8_t any = p[Bytes - 1];  // nobody fetches it: what was here
    any = static_cast<uint8_t>(any + p[Bytes / 2]);
    p[Bytes - 1] = any;
    const cl_int code = usm.set(g_queue, p, 1, 10, 0, nullptr, nullptr);
    ::_exit(!same ? 1 : p[10] != 77 ? 2 : code != CL_DEVICE_NOT_AVAILABLE ? 3 : 0);
  }
  std::printf("child %d\n", end_of(child));
  expect(p[10] == there, "the parent's page is its own");
  expect(is_counted(p, Bytes, 4), "what the device wrote is there");
  count(p, Bytes, 2);
  CHECK(clFinish(g_queue));
  expect(is_counted(p, Bytes, 6), "and goes on");
  // While another thread launches and touches.
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    for (int i = 0; !stop; ++i) {
      count(p, Bytes, 0);
      CHECK(clFinish(g_queue));
      p[static_cast<size_t>(i) * 4096 % Bytes] ^= 0;
    }
  });
  auto* const mine = allocate(Kind::Host, Bytes);
  int wrong = 0;
  for (int i = 0; i < 20; ++i) {
    write_counted(mine, Bytes, static_cast<size_t>(i));
    const pid_t next = ::fork();
    if (next == 0) ::_exit(is_counted(mine, Bytes, static_cast<size_t>(i)) ? 0 : 1);
    wrong += end_of(next) != 0;
  }
  stop = true;
  busy.join();
  expect(wrong == 0, "children of a program with threads");
  expect(is_counted(p, Bytes, 6), "and their parent");
  release(p);
  release(mine);
}

// --- handlers of SIGSEGV ---

sigjmp_buf g_back;
volatile uintptr_t g_at;
volatile int g_calls, g_chained;
volatile uintptr_t g_stack;
struct sigaction g_found;

void on_fault(int, siginfo_t* info, void*) {
  const int here = 0;
  g_stack = reinterpret_cast<uintptr_t>(&here);
  g_at = reinterpret_cast<uintptr_t>(info->si_addr);
  g_calls = g_calls + 1;
  siglongjmp(g_back, 1);
}
void on_fault_plain(int) {
  g_calls = g_calls + 1;
  siglongjmp(g_back, 1);
}
void on_fault_chained(int signal, siginfo_t* info, void* context) {
  g_chained = g_chained + 1;
  g_found.sa_sigaction(signal, info, context);
}

void install(void (*handler)(int, siginfo_t*, void*), void (*plain)(int) = nullptr, struct sigaction* found = nullptr) {
  struct sigaction action = {};
  plain ? void(action.sa_handler = plain) : void(action.sa_sigaction = handler);
  action.sa_flags = (plain ? 0 : SA_SIGINFO) | SA_ONSTACK;
  ::sigaction(SIGSEGV, &action, found);
}

// Whether the handler was called, with that address.
bool faults(const volatile uint8_t* p, bool to_write = true) {
  g_at = 0;
  const int before = g_calls;
  if (sigsetjmp(g_back, 1) == 0) {
    if (to_write)
      *const_cast<volatile uint8_t*>(p) = 1;
    else
      static_cast<void>(*p);
  }
  return g_calls == before + 1 && (g_at == 0 || g_at == reinterpret_cast<uintptr_t>(p));
}

struct OwnStack {
  OwnStack() {
    stack_t own = {};
    own.ss_sp = memory.data();
    own.ss_size = memory.size();
    ::sigaltstack(&own, nullptr);
  }
  bool was_used() const {
    const auto begin = reinterpret_cast<uintptr_t>(memory.data());
    return g_stack >= begin && g_stack < begin + memory.size();
  }
  ~OwnStack() {
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
  }
  std::vector<char> memory = std::vector<char>(1 << 16);
};

bool round_of(uint8_t* p, size_t by) {
  write_counted(p, Bytes, by);
  count(p, Bytes, 1);
  CHECK(clFinish(g_queue));
  return is_counted(p, Bytes, by + 1);
}

void with_handlers() {
  const OwnStack stack;
  auto* const mapped = static_cast<uint8_t*>(::mmap(nullptr, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  install(&on_fault);  // before there is any such memory
  expect(faults(mapped + 5), "a wild access, before");
  auto* const p = allocate(Kind::Shared, Bytes);
  auto* const q = allocate(Kind::Shared, Bytes);
  expect(round_of(p, 1) && round_of(q, 2) && g_calls == 1, "its own faults are not the program's");
  expect(faults(mapped + 4096 + 7) && stack.was_used(), "a wild access, on its stack");
  expect(faults(mapped, false), "a wild read");
  expect(faults(reinterpret_cast<uint8_t*>(16)) && stack.was_used(), "near NULL");
  release(q);
  expect(faults(q + 4096), "memory that was freed");
  install(&on_fault_chained, nullptr, &g_found);  // after: it stands before ours, and calls it
  p[0] = 1;
  expect(round_of(p, 3), "behind a handler that calls the one it found");
  g_stack = 0;
  expect(faults(mapped + 9) && g_chained > 0 && stack.was_used(), "a wild access, through both");
  install(nullptr, &on_fault_plain);  // the next launch finds it
  count(p, Bytes, 0);
  CHECK(clFinish(g_queue));
  expect(round_of(p, 5), "before a handler that calls nobody");
  expect(faults(mapped + 11), "a wild access, without an address");
  int wrong = 0;
  std::thread other([&] {
    const OwnStack own;
    install(&on_fault);
    count(p, Bytes, 0);
    CHECK(clFinish(g_queue));
    wrong += !round_of(p, 7);
    wrong += !faults(mapped + 13) || !own.was_used();
  });
  other.join();
  expect(wrong == 0, "another thread, with a stack of its own");
  release(p);
}

// A wild access without a handler ends the program as ever.
void crash() {
  auto* const p = allocate(Kind::Shared, Bytes);
  expect(round_of(p, 1), "before");
  std::fflush(stdout);
  volatile uintptr_t wild = 16;
  *reinterpret_cast<volatile uint8_t*>(wild) = 1;
}

}  // namespace

int main(int, char** argv) { run_part(argv[1], {{"fork", forked}, {"handler", with_handlers}, {"crash", crash}}); }
