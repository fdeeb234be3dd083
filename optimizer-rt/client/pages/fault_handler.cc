#include "optimizer-rt/client/pages/fault_handler.h"

#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "optimizer-rt/client/pages/fault_targets.h"
#include "traces/base/mutex.h"
#include "traces/base/signals_blocked.h"

namespace gt::virt {
namespace {

using Action = struct sigaction;

// Each stands before one handler of the program's.
constexpr size_t Layers = 16;
struct Layer {
  Action before = {};
  std::atomic<bool> was_reset{false};  // SA_RESETHAND
};
Layer g_layers[Layers];
constinit Mutex g_mutex;
size_t g_used GT_GUARDED_BY(g_mutex) = 0;

void end_without_handler(int signal, siginfo_t* info) {
  Action none = {};
  none.sa_handler = SIG_DFL;
  ::sigaction(signal, &none, nullptr);
  // What was raised by an access is raised again by it. What was sent is sent again, and comes when we return.
  if (info->si_code <= 0) ::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), ::syscall(SYS_gettid), signal, info);
}

// As the kernel would have called it.
void call(const Action& action, int signal, siginfo_t* info, void* context) {
  sigset_t mask = static_cast<ucontext_t*>(context)->uc_sigmask;  // of what was interrupted
  for (int s = 1; s < NSIG; ++s) {
    if (sigismember(&action.sa_mask, s) == 1) sigaddset(&mask, s);
  }
  if (!(action.sa_flags & SA_NODEFER)) sigaddset(&mask, signal);
  ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  if (action.sa_flags & SA_SIGINFO)
    action.sa_sigaction(signal, info, context);
  else
    action.sa_handler(signal);
}

void pass_on(Layer& layer, int signal, siginfo_t* info, void* context) {
  const Action& before = layer.before;
  const bool plain = (before.sa_flags & SA_SIGINFO) == 0;
  const bool sent = info->si_code <= 0;
  if (plain && before.sa_handler == SIG_IGN && sent) return;
  const bool is_gone = (before.sa_flags & SA_RESETHAND) != 0 && layer.was_reset.exchange(true);
  if ((plain && (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN)) || is_gone)
    return end_without_handler(signal, info);
  call(before, signal, info, context);
}

FaultTarget::Access access_of([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
  const auto error = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR];
  return error & 2 ? FaultTarget::Access::Write : FaultTarget::Access::Read;
#else
  return FaultTarget::Access::Unknown;
#endif
}

void on_signal(size_t layer, int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  if (info->si_code == SEGV_ACCERR) {  // of a mapping, by its protection
    const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
    const SignalsBlocked quiet;  // a handler of the program's may have called us with others
    if (FaultTarget* const target = pinned_target(address)) {
      const FaultTarget::Answer answer = target->touched(target, address, access_of(context));
      target->pins.fetch_sub(1);
      errno = saved_errno;
      if (answer == FaultTarget::Answer::Again) return;
    }
  }
  errno = saved_errno;
  pass_on(g_layers[layer], signal, info, context);
}

template <size_t L>
void entry(int signal, siginfo_t* info, void* context) {
  on_signal(L, signal, info, context);
}
using Entry = void (*)(int, siginfo_t*, void*);
template <size_t... L>
constexpr std::array<Entry, sizeof...(L)> entries(std::index_sequence<L...>) {
  return {&entry<L>...};
}
constexpr std::array<Entry, Layers> Entries = entries(std::make_index_sequence<Layers>());

bool is_ours(const Action& action) {
  if (!(action.sa_flags & SA_SIGINFO)) return false;
  for (const Entry entry : Entries) {
    if (action.sa_sigaction == entry) return true;
  }
  return false;
}

bool same(const Action& a, const Action& b) {
  return a.sa_handler == b.sa_handler && a.sa_flags == b.sa_flags &&
         std::memcmp(&a.sa_mask, &b.sa_mask, sizeof a.sa_mask) == 0;
}

// The layer that stands before that handler; where all stand before others, the last one gives its own up.
size_t layer_before(const Action& now) GT_REQUIRES(g_mutex) {
  for (size_t i = 0; i < g_used; ++i) {
    if (same(g_layers[i].before, now)) return i;
  }
  if (g_used < Layers) ++g_used;
  g_layers[g_used - 1].before = now;
  return g_used - 1;
}

}  // namespace

void stay_first() {
  Action now = {};
  if (::sigaction(SIGSEGV, nullptr, &now) != 0 || is_ours(now)) return;
  const SignalsBlocked quiet;
  const MutexLock lock(g_mutex);
  const size_t layer = layer_before(now);
  g_layers[layer].was_reset = false;
  Action ours = {};
  ours.sa_sigaction = Entries[layer];
  const bool has_handler = (now.sa_flags & SA_SIGINFO) != 0 || (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN);
  // Its stack is ours. Without one, whatever stack the thread has.
  ours.sa_flags = SA_SIGINFO | (has_handler ? now.sa_flags & (SA_ONSTACK | SA_RESTART) : SA_ONSTACK | SA_RESTART);
  sigfillset(&ours.sa_mask);
  ::sigaction(SIGSEGV, &ours, nullptr);
}

}  // namespace gt::virt
