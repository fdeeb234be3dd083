#include "tracer/gtrace/replay/replay_trial.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <new>

#include "tracer/gtrace/replay/apart.h"
#include "tracer/gtrace/replay/session.h"
#include "traces/api/api.h"
#include "traces/base/command.h"

namespace gt::tracer {

// Written by the try, read by who started it.
struct ReplayTrial::Shared {
  Verdict::Kind kind = Verdict::Kind::Unfinished;
  model::ThreadId thread = 0;
  uint64_t number = 0;
  std::array<char, 400> what{};
  LastCall last;

  void say(Verdict::Kind k, model::ThreadId t, uint64_t n, const std::string& text) {
    thread = t;
    number = n;
    const size_t most = std::min(text.size(), what.size() - 1);
    std::copy_n(text.data(), most, what.data());
    what[most] = '\0';
    kind = k;
  }
};

namespace {

// The numbers of calls are others in a smaller trace.
std::string without_place(const std::string& text) {
  const size_t mark = text.find("call T");
  const size_t comma = mark == std::string::npos ? mark : text.find(", ", mark);
  return comma == std::string::npos ? text : text.substr(comma + 2);
}

std::string text_of(const model::Trace& trace, const ContentDifference& d) {
  return fmt::format("{}: {} of {} {}s differ, the first at byte {}: expected {}, got {}",
                     api::function_name(trace.shapes[d.shape].fn), d.differing, d.elements, d.type, d.offset,
                     d.expected, d.got);
}

void be_silent() {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return;
  ::dup2(null, STDOUT_FILENO);
  ::dup2(null, STDERR_FILENO);
}

}  // namespace

Verdict ReplayTrial::run(const CallGraph* graph, const CallSet* calls) {
  void* const memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return {};
  Shared& shared = *new (memory) Shared;
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::setpgid(0, 0);  // Ctrl-C is ours
    if (::getppid() != parent) ::_exit(ExitInternal);
    be_silent();
    child(shared, graph, calls);
    std::fflush(nullptr);
    ::_exit(ExitOk);
  }
  const auto began = std::chrono::steady_clock::now();
  bool killed = pid < 0;
  int status = 0;
  while (pid > 0 && ::waitpid(pid, &status, WNOHANG) == 0) {
    const bool enough = interrupted_ || std::chrono::steady_clock::now() - began > longest_;
    if (enough && !killed) killed = ::kill(pid, SIGKILL) == 0;
    ::usleep(2000);
  }
  Verdict verdict;
  if (!killed) verdict = {shared.kind, shared.thread, shared.number, shared.what.data()};
  ::munmap(memory, sizeof(Shared));
  return verdict;
}

void ReplayTrial::child(Shared& shared, const CallGraph* graph, const CallSet* calls) const {
  RunOptions run = options_.pair.run;
  if (graph)
    run.makes = [graph, calls](model::ThreadId thread, uint64_t number) {
      const std::optional<CallIndex> call = graph->find(thread, number);
      return call && (*calls)[*call];
    };
  if (options_.against) return compare_pair(shared, run);
  const int status = run_apart(opened_.path, [&](LastCall&) { return replay(shared, run); }, options_.pair.apart);
  if (status > 128 && shared.kind == Verdict::Kind::Unfinished)
    shared.say(Verdict::Kind::Crashed, shared.last.thread.load(), shared.last.number.load(),
               fmt::format("signal {} ({})", status - 128, ::strsignal(status - 128)));
}

int ReplayTrial::replay(Shared& shared, const RunOptions& options) const {
  Result<std::unique_ptr<ReplaySession>> session = ReplaySession::open(opened_, options.process, options_.device);
  if (!session) return exit_status(session.status());
  ReplayWorld& world = (*session)->world();
  world.tolerance = options_.pair.tolerance;
  RunOptions run = options;
  const auto fails = [&shared](const Status& s) {
    shared.say(Verdict::Kind::Failed, shared.last.thread.load(), shared.last.number.load(), without_place(s.text()));
  };
  run.give_up = [&](const Status& s) {
    fails(s);
    ::_exit(ExitEnvironment);
  };
  const Result<RunTimes> times = run_replay(world, run, &shared.last);
  if (!times && times.status().kind() == Kind::OpenCl) fails(times.status());
  if (!times) return ExitEnvironment;
  const std::vector<ContentDifference>& all = world.outcome.differences();
  if (all.empty()) return shared.say(Verdict::Kind::Same, 0, 0, ""), ExitOk;
  const ContentDifference& d = *std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::pair(a.call, a.thread) < std::pair(b.call, b.thread);
  });
  shared.say(Verdict::Kind::Differs, d.thread, d.call, text_of(opened_.trace, d));
  return ExitOk;
}

// Any difference of the same output will do: both were given the same.
void ReplayTrial::compare_pair(Shared& shared, const RunOptions& run) const {
  AgainstOptions pair = options_.pair;
  pair.run = run;
  const AgainstOutcome o = compare_in_step(opened_, pair);
  const LaunchName& launch = o.launch.launch;
  if (o.kind == AgainstOutcome::Kind::Same) shared.say(Verdict::Kind::Same, 0, 0, "");
  if (o.kind == AgainstOutcome::Kind::Differs)
    shared.say(Verdict::Kind::Differs, launch.thread, launch.number,
               fmt::format("kernel {}, argument {}", o.launch.kernel, o.output.argument));
  if (o.kind == AgainstOutcome::Kind::Crashed)
    shared.say(Verdict::Kind::Crashed, 0, 0, fmt::format("on {}", pair.devices[o.side]));
  if (o.kind == AgainstOutcome::Kind::Failed && o.failure.kind() == Kind::OpenCl)
    shared.say(Verdict::Kind::Failed, 0, 0,
               fmt::format("on {}: {}", pair.devices[o.side], without_place(o.failure.text())));
}

}  // namespace gt::tracer
