// gtrace replay: makes the calls of a trace again.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "tracer/gtrace/base/units.h"
#include "tracer/gtrace/commands.h"
#include "tracer/gtrace/replay/apart.h"
#include "tracer/gtrace/replay/kernel_timing.h"
#include "tracer/gtrace/replay/report.h"
#include "tracer/gtrace/replay/session.h"
#include "traces/base/command_line.h"

namespace gt::tracer {
namespace {

constexpr int ExitDiffers = 1;

struct ReplayCommand {
  RunOptions run;
  ReportOptions report;
  std::string device;
  Tolerance tolerance;
  std::optional<LaunchChoice> kernel;
  uint64_t repeat = 1;
};

// "A..B", "A..", "..B", "A".
Status parse_calls(const std::string& text, RunOptions& run) {
  if (text.empty()) return {};
  const size_t dots = text.find("..");
  const auto number = [](const std::string& word, uint64_t fallback) -> std::optional<uint64_t> {
    if (word.empty()) return fallback;
    char* end = nullptr;
    const uint64_t n = std::strtoull(word.c_str(), &end, 10);
    return *end == '\0' && word[0] != '-' && n > 0 ? std::optional(n) : std::nullopt;
  };
  const auto first = number(text.substr(0, dots), 1);
  const auto last = dots == std::string::npos ? first : number(text.substr(dots + 2), ~uint64_t{0});
  if (!first || !last || *first > *last) {
    return {Kind::Invalid, fmt::format("--calls {}: not A..B, numbers of calls as gtrace expand prints them", text)};
  }
  run.first = *first;
  run.last = *last;
  return {};
}

uint64_t recorded_ns(const model::Trace& trace, uint32_t process) {
  const model::Process& p = trace.processes[process];
  return p.end_ns > p.start_ns ? p.end_ns - p.start_ns : 0;
}

std::string repeat_line(const std::vector<uint64_t>& ns) {
  std::vector<uint64_t> sorted = ns;
  std::sort(sorted.begin(), sorted.end());
  return fmt::format("{} launches: {} to {}, median {}\n", sorted.size(), human_ns(sorted.front()),
                     human_ns(sorted.back()), human_ns(sorted[sorted.size() / 2]));
}

Status never_launched(const LaunchChoice& choice, const CapturedPart& part) {
  return {Kind::Invalid, part.not_reached(choice, fmt::format("--kernel {}#{}: it is launched less often",
                                                              choice.kernel, choice.nth))};
}

int replay_here(const OpenedTrace& opened, const ReplayCommand& command, LastCall& last_call) {
  Result<std::unique_ptr<ReplaySession>> session = ReplaySession::open(opened, command.run.process, command.device);
  if (!session) return fail("gtrace", session.status());
  ReplayWorld& world = (*session)->world();
  world.tolerance = command.tolerance;
  std::optional<KernelTiming> timing;
  if (command.kernel) world.hook = &timing.emplace(world.cl, world.kernels, *command.kernel, command.repeat);
  Result<RunTimes> times = run_replay(world, command.run, &last_call);
  if (!times) return fail("gtrace", times.status().at(opened.path));
  if (timing && !timing->done()) return fail("gtrace", never_launched(*command.kernel, world.part).at(opened.path));
  if (command.run.first == 1 && command.run.last == ~uint64_t{0} && !timing)
    times->recorded_ns = recorded_ns(opened.trace, command.run.process);
  std::string text = replay_report(world, *times, command.report);
  if (timing && !command.report.json && command.repeat > 0) text += repeat_line(timing->ns());
  if (const Status s = print_text(text); !s.ok()) return fail("gtrace", s);
  return world.outcome.differing() > 0 ? ExitDiffers : ExitOk;
}

}  // namespace

int replay_command(int argc, char** argv) {
  CommandLine line("gtrace replay", "Makes the recorded OpenCL calls again, without the program, on any device.");
  const Options& settings = line.options();
  std::string file;
  line.argument("FILE", file, "The trace; the newest trace*.db here by default");
  if (const auto status = line.parse(argc, argv)) return *status;
  ReplayCommand command;
  command.device = settings.text("device");
  command.report = {settings.flag("json"), settings.flag("timing")};
  command.run.free_threads = settings.flag("free-threads");
  if (const Status s = parse_calls(settings.text("calls"), command.run); !s.ok()) return fail("gtrace", s);
  const Result<Tolerance> tolerance = Tolerance::parse(settings.text("compare"));
  if (!tolerance) return fail("gtrace", tolerance.status());
  command.tolerance = *tolerance;
  const Result<OpenedTrace> opened = open_trace(file);
  if (!opened) return fail("gtrace", opened.status());
  const Result<uint32_t> process = process_to_replay(opened->trace);
  if (!process) return fail("gtrace", process.status().at(opened->path));
  if (const Status s = CapturedPart(opened->trace).came(opened->trace); !s.ok())
    return fail("gtrace", s.at(opened->path));
  command.run.process = *process;
  command.run.give_up = give_up_with(opened->path);
  command.repeat = settings.integer("repeat").value_or(0);
  if (const std::string& kernel = settings.text("kernel"); !kernel.empty()) {
    const Result<LaunchChoice> choice = LaunchChoice::parse(kernel, opened->trace);
    if (!choice) return fail("gtrace", choice.status());
    if (const Status s = CapturedPart(opened->trace).has(*choice); !s.ok()) return fail("gtrace", s.at(opened->path));
    command.kernel = *choice;
  } else if (command.repeat > 0) {
    return fail("gtrace", {Kind::Invalid, "--repeat N goes with --kernel NAME#N"});
  }
  return run_apart(opened->path, [&](LastCall& last) { return replay_here(*opened, command, last); });
}

}  // namespace gt::tracer
