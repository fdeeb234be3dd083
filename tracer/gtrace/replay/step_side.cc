#include "tracer/gtrace/replay/step_side.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "tracer/gtrace/replay/apart.h"
#include "tracer/gtrace/replay/session.h"
#include "tracer/gtrace/replay/step_reporter.h"
#include "traces/base/command.h"
#include "traces/base/wait_child.h"

namespace gt::tracer {

namespace {

void put(ByteWriter& out, const Outcome::Counts& counts) {
  out.varint(counts.size());
  for (const auto& [text, n] : counts) {
    out.text(text);
    out.varint(n);
  }
}

Outcome::Counts get(ByteReader& in) {
  Outcome::Counts counts;
  for (uint64_t n = in.varint(); n > 0 && in.ok(); --n) {
    const std::string text(in.text());
    counts[text] = in.varint();
  }
  return counts;
}

Bytes hello(const ReplayWorld& world) {
  ByteWriter out;
  out.u8(world.contents != nullptr);
  std::vector<std::string> names;
  for (const ReplayDevice& d : world.devices.by_slot()) {
    if (std::find(names.begin(), names.end(), d.name) == names.end()) names.push_back(d.name);
  }
  out.varint(names.size());
  for (const std::string& n : names) out.text(n);
  return out.take();
}

Bytes failed(const Status& s) {
  ByteWriter out;
  out.u8(static_cast<uint8_t>(s.kind()));
  out.text(s.text());
  return out.take();
}

Bytes ended(const Outcome& outcome) {
  ByteWriter out;
  put(out, outcome.left_out());
  put(out, outcome.bridged());
  return out.take();
}

int replay_side(const OpenedTrace& opened, const AgainstOptions& options, size_t which, const StepChannel& channel,
                LastCall& last) {
  const auto fails = [&](const Status& s) {
    (void)channel.send(StepKind::Failed, failed(s));
    return exit_status(s);
  };
  Result<std::unique_ptr<ReplaySession>> session =
      ReplaySession::open(opened, options.run.process, options.devices[which]);
  if (!session) return fails(session.status());
  ReplayWorld& world = (*session)->world();
  world.compares = false;
  world.describes_kernels = true;
  if (!channel.send(StepKind::Hello, hello(world))) return ExitEnvironment;
  StepReporter reporter(world, channel);
  world.hook = &reporter;
  RunOptions run = options.run;
  run.give_up = [&](const Status& s) {
    const int status = fails(s);
    ::_exit(status);
  };
  if (const Result<RunTimes> times = run_replay(world, run, &last); !times) return fails(times.status());
  (void)channel.send(StepKind::Ended, ended(world.outcome));
  return ExitOk;
}

}  // namespace

// What watches a replay in its stead tells how it ended.
Result<StepProcess> StepProcess::start(const OpenedTrace& opened, const AgainstOptions& options, size_t which) {
  Result<std::pair<StepChannel, StepChannel>> ends = step_channels();
  if (!ends) return ends.status();
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  const pid_t watcher = ::fork();
  if (watcher < 0) return system_error("cannot replay: fork", errno);
  if (watcher > 0) return StepProcess(watcher, std::move(ends->first));
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(ExitInternal);
  const StepChannel channel = std::move(ends->second);
  { const StepChannel other = std::move(ends->first); }
  const int status =
      run_apart(opened.path, [&](LastCall& last) { return replay_side(opened, options, which, channel, last); },
                options.apart);
  std::fflush(nullptr);
  ::_exit(status);
}

StepProcess::StepProcess(StepProcess&& other) noexcept
    : launches(std::move(other.launches)),
      side(std::move(other.side)),
      failure(std::move(other.failure)),
      contents(other.contents),
      ended(other.ended),
      complete(other.complete),
      watcher_(std::exchange(other.watcher_, 0)),
      channel_(std::move(other.channel_)) {}

StepProcess::~StepProcess() {
  if (watcher_ <= 0) return;
  ::kill(watcher_, SIGKILL);
  (void)wait();
}

void StepProcess::stop() {
  constexpr int Patience = 10'000;  // ms: it may be in a kernel that does not end
  channel_.say_no_more();
  while (!ended) {
    pollfd socket{descriptor(), POLLIN, 0};
    if (::poll(&socket, 1, Patience) <= 0) return;
    (void)listen();
  }
}

int StepProcess::wait() {
  const int status = wait_child(std::exchange(watcher_, 0));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::optional<StepMessage> StepProcess::listen() {
  std::optional<StepMessage> message = channel_.receive();
  if (!message) {
    ended = true;
    return std::nullopt;
  }
  ByteReader in(message->body);
  switch (message->kind) {
    case StepKind::Hello:
      contents = in.u8() != 0;
      for (uint64_t n = in.varint(); n > 0 && in.ok(); --n) side.devices.emplace_back(in.text());
      return std::nullopt;
    case StepKind::Launched:
      if (std::optional<LaunchReport> report = decode_launch(message->body))
        launches[report->launch] = std::move(*report);
      return std::nullopt;
    case StepKind::Failed: {
      const uint8_t kind = in.u8();
      failure = Status(static_cast<Kind>(kind), std::string(in.text()));
      ended = true;
      return std::nullopt;
    }
    case StepKind::Ended:
      side.left_out = get(in);
      side.bridged = get(in);
      ended = complete = true;
      return std::nullopt;
    default:
      return message;
  }
}

bool StepProcess::fetch(const StepAnswer& wanted, Bytes& out) {
  if (!tell(StepKind::Send, wanted)) return false;
  while (!ended) {
    const std::optional<StepMessage> message = listen();
    if (!message) continue;
    const std::optional<StepAnswer> answer = decode_answer(message->body, &out);
    if (answer && answer->launch == wanted.launch && answer->argument == wanted.argument) return true;
  }
  return false;
}

}  // namespace gt::tracer
