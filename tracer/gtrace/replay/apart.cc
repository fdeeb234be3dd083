#include "tracer/gtrace/replay/apart.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <new>

#include "tracer/gtrace/replay/confined.h"
#include "traces/base/command.h"

namespace gt::tracer {

namespace {

int status_of(pid_t child, const std::string& trace_path, const LastCall& last) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  const int signal = WTERMSIG(status);
  const uint64_t number = last.number.load();
  const std::string where = number > 0 ? fmt::format("in call T{} #{}, {}", last.thread.load(), number,
                                                     api::function_name(static_cast<uint16_t>(last.fn.load())))
                                       : "before its first call";
  std::fprintf(stderr, "gtrace: %s: the replay was ended by signal %d (%s) %s\n", trace_path.c_str(), signal,
               ::strsignal(signal), where.c_str());
  return 128 + signal;
}

}  // namespace

int run_apart(const std::string& trace_path, const std::function<int(LastCall&)>& body, const ApartOptions& options) {
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
  if (!confinement && status < ExitUsage)
    std::fprintf(stderr, "gtrace: %s: the trace's kernels could read and write all that you may (%s)\n",
                 trace_path.c_str(), confinement.status().text().c_str());
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
