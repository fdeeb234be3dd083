#include "tracer/gtrace/replay/apart.h"

#include <link.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <string_view>

#include "tracer/gtrace/replay/confined.h"
#include "traces/base/command.h"
#include "traces/base/wait_child.h"

namespace gt::tracer {

namespace {

// Also called by a signal's handler: no memory is asked for.
void tell(int signal, const char* trace_path, const LastCall& last) {
  char text[PATH_MAX + 512], where[256] = "before its first call";
  if (const uint64_t number = last.number.load()) {
    std::snprintf(where, sizeof where, "in call T%u #%llu, %s", last.thread.load(),
                  static_cast<unsigned long long>(number),
                  api::function_name(static_cast<uint16_t>(last.fn.load())));
  }
  const int n = std::snprintf(text, sizeof text, "gtrace: %s: the replay was ended by signal %d (%s) %s\n", trace_path,
                              signal, ::strsignal(signal), where);
  if (n > 0) (void)!::write(STDERR_FILENO, text, std::min(static_cast<size_t>(n), sizeof text - 1));
}

int status_of(pid_t child, const std::string& trace_path, const LastCall& last) {
  const int status = wait_child(child);
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  const int signal = WTERMSIG(status);
  tell(signal, trace_path.c_str(), last);
  return 128 + signal;
}

void tell_unconfined(const std::string& trace_path, const Status& reason) {
  std::fprintf(stderr, "gtrace: %s: the trace's kernels could read and write all that you may (%s)\n",
               trace_path.c_str(), reason.text().c_str());
}

// What goptimize has put in front of OpenCL serves this process, and no forked child: the replay is made here.
bool is_optimized() {
  return ::dl_iterate_phdr([](dl_phdr_info* module, size_t, void*) {
           return std::string_view(module->dlpi_name).ends_with("/opt/libOpenCL.so.1") ? 1 : 0;
         }, nullptr) != 0;
}

const LastCall* g_last = nullptr;
const std::string* g_path = nullptr;

void tell_signal(int signal) {
  tell(signal, g_path->c_str(), *g_last);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

// Into the sandbox, once for all replays of the process. Threads that goptimize's library has begun by now are ours,
// and stay outside.
Status confine_here(const std::string& trace_path, const ApartOptions& options) {
  static std::optional<Result<Confinement>> confinement;
  if (!options.sandbox || confinement) return {};
  confinement = Confinement::prepare(trace_path, options.writes);
  if (*confinement) return (*confinement)->enter();
  const Status& reason = confinement->status();
  if (reason.kind() != Kind::Unsupported) return reason;
  tell_unconfined(trace_path, reason);
  return {};
}

int run_here(const std::string& trace_path, const std::function<int(LastCall&)>& body, const ApartOptions& options) {
  static LastCall last;
  if (const Status s = confine_here(trace_path, options); !s.ok()) return fail("gtrace", s);
  g_last = &last;
  g_path = &trace_path;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::signal(signal, &tell_signal);
  const int status = body(last);
  std::fflush(nullptr);
  return status;
}

}  // namespace

int run_apart(const std::string& trace_path, const std::function<int(LastCall&)>& body, const ApartOptions& options) {
  if (is_optimized()) return run_here(trace_path, body, options);
  const Result<Confinement> confinement =
      options.sandbox ? Confinement::prepare(trace_path, options.writes) : Result<Confinement>(Confinement());
  const bool confined = options.sandbox && confinement;
  if (!confinement && confinement.status().kind() != Kind::Unsupported) return fail("gtrace", confinement.status());
  void* const shared = ::mmap(nullptr, sizeof(LastCall), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return fail("gtrace", system_error("cannot replay: mmap", errno));
  LastCall& last = *new (shared) LastCall;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return fail("gtrace", system_error("cannot replay: fork", errno));
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(ExitInternal);
    const Status inside = confined ? confinement->enter() : Status();
    const int status = inside.ok() ? body(last) : fail("gtrace", inside);
    std::fflush(nullptr);
    ::_exit(status);  // drivers that are being unloaded have nothing to tell
  }
  const int status = status_of(child, trace_path, last);
  if (!confinement && status < ExitUsage) tell_unconfined(trace_path, confinement.status());
  return status;
}

std::function<void(const Status&)> give_up_with(const std::string& trace_path) {
  return [trace_path](const Status& s) {
    const int status = fail("gtrace", s.at(trace_path));
    std::fflush(nullptr);
    ::_exit(status);
  };
}

}  // namespace gt::tracer
