// gtrace replay: makes the calls of a trace again.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "tracer/gtrace/base/units.h"
#include "tracer/gtrace/commands.h"
#include "tracer/gtrace/replay/against.h"
#include "tracer/gtrace/replay/apart.h"
#include "tracer/gtrace/replay/kernel_timing.h"
#include "tracer/gtrace/replay/reduce.h"
#include "tracer/gtrace/replay/report.h"
#include "tracer/gtrace/replay/session.h"
#include "tracer/gtrace/replay/what_if.h"
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
  ApartOptions apart;
  bool overlaps = false;
  uint64_t* only_time = nullptr;  // in memory that is shared: the time goes there, nothing is printed
};

// A number that a process writes and its parent reads.
class SharedNumber {
 public:
  SharedNumber() : at_(::mmap(nullptr, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {}
  ~SharedNumber() {
    if (at_ != MAP_FAILED) ::munmap(at_, sizeof(uint64_t));
  }
  SharedNumber(const SharedNumber&) = delete;
  SharedNumber& operator=(const SharedNumber&) = delete;
  uint64_t* get() const { return at_ == MAP_FAILED ? nullptr : static_cast<uint64_t*>(at_); }

 private:
  void* at_;
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
  world.times_calls = command.report.timing || command.report.json;
  world.overlaps = command.overlaps;
  std::optional<KernelTiming> timing;
  if (command.kernel) world.hook = &timing.emplace(world.cl, world.kernels, *command.kernel, command.repeat);
  Result<RunTimes> times = run_replay(world, command.run, &last_call);
  if (!times) return fail("gtrace", times.status().at(opened.path));
  if (timing && !timing->done()) return fail("gtrace", never_launched(*command.kernel, world.part).at(opened.path));
  if (command.only_time) return *command.only_time = times->wall_ns, ExitOk;
  if (command.run.first == 1 && command.run.last == ~uint64_t{0} && !timing)
    times->recorded_ns = recorded_ns(opened.trace, command.run.process);
  std::string text = replay_report(world, *times, command.report);
  if (timing && !command.report.json && command.repeat > 0) text += repeat_line(timing->ns());
  if (const Status s = print_text(text); !s.ok()) return fail("gtrace", s);
  if (const Status s = (*session)->damage(); !s.ok()) return fail("gtrace", s);
  return world.outcome.differing() > 0 ? ExitDiffers : ExitOk;
}

// By turns: as it was, and with transfers that go on. The first one, in which drivers compile, does not count.
int replay_by_turns(const OpenedTrace& opened, ReplayCommand command) {
  constexpr uint64_t LongNs = 5'000'000'000;
  const SharedNumber time;
  if (!time.get()) return fail("gtrace", system_error("cannot replay: mmap", errno));
  const auto replay = [&](bool overlaps, uint64_t* only_time) {
    command.overlaps = overlaps;
    command.only_time = only_time;
    return run_apart(opened.path, [&](LastCall& last) { return replay_here(opened, command, last); }, command.apart);
  };
  int status = replay(false, time.get());
  const int turns = *time.get() < LongNs ? 3 : 1;
  for (int turn = 0; turn < turns && status == ExitOk; ++turn) {
    status = replay(false, time.get());
    command.report.blocking_ns.push_back(*time.get());
    if (status != ExitOk || turn + 1 == turns) break;
    status = replay(true, time.get());
    command.report.going_on_ns.push_back(*time.get());
  }
  return status == ExitOk ? replay(true, nullptr) : status;
}

// --against and --reduce: several replays. Nothing: neither was given.
std::optional<int> replay_many(const OpenedTrace& opened, const ReplayCommand& command, const Options& settings) {
  const std::string& devices = settings.text("against");
  const bool reduces = settings.flag("reduce");
  if (devices.empty() && !reduces) return std::nullopt;
  if (!devices.empty() && !command.device.empty())
    return fail("gtrace", {Kind::Invalid, "--against goes without --device"});
  if (command.kernel || command.report.timing || settings.flag("overlap"))
    return fail("gtrace", {Kind::Invalid, "--against and --reduce go without --kernel, --timing and --overlap"});
  const size_t end = devices.find('\n');
  if (!devices.empty() && end == std::string::npos)
    return fail("gtrace", {Kind::Invalid, "--against takes two devices: --against DEVICE_A DEVICE_B"});
  const AgainstOptions pair{{devices.substr(0, end), devices.substr(end + 1)}, command.run, command.tolerance,
                            command.apart, {}};
  if (!reduces) return replay_against(opened, pair, command.report.json);
  if (!settings.text("calls").empty()) return fail("gtrace", {Kind::Invalid, "--reduce goes without --calls"});
  return reduce_trace(opened, {{command.device, !devices.empty(), pair},
                               settings.text("output"),
                               settings.integer("tries").value_or(0),
                               settings.integer("seconds").value_or(0),
                               command.report.json});
}

}  // namespace

int replay_command(int argc, char** argv) {
  CommandLine line("gtrace replay", "Makes the recorded OpenCL calls again, without the program, on any device.");
  const Options& settings = line.options();
  std::string file;
  line.argument("FILE", file, "The trace; the newest trace*.db here by default");
  line.takes_two("--against");
  if (const auto status = line.parse(argc, argv)) return *status;
  ReplayCommand command;
  const WhatIf what_if{settings.text("policy"), settings.text("remote")};
  if (what_if.any()) return fail("gtrace", become_what_if(what_if, {argv + 1, argv + argc}));
  command.device = settings.text("device");
  command.apart.sandbox = !settings.flag("no-sandbox");
  command.report.json = settings.flag("json");
  command.report.timing = settings.flag("timing");
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
    if (settings.flag("overlap")) return fail("gtrace", {Kind::Invalid, "--overlap is for calls, not for --kernel"});
    const Result<LaunchChoice> choice = LaunchChoice::parse(kernel, opened->trace);
    if (!choice) return fail("gtrace", choice.status());
    if (const Status s = CapturedPart(opened->trace).has(*choice); !s.ok()) return fail("gtrace", s.at(opened->path));
    command.kernel = *choice;
  } else if (command.repeat > 0) {
    return fail("gtrace", {Kind::Invalid, "--repeat N goes with --kernel NAME#N"});
  }
  if (const std::optional<int> status = replay_many(*opened, command, settings)) return *status;
  if (settings.flag("overlap")) return replay_by_turns(*opened, command);
  return run_apart(opened->path, [&](LastCall& last) { return replay_here(*opened, command, last); }, command.apart);
}

}  // namespace gt::tracer
