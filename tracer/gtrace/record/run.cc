// gtrace run: starts a program with the recorder in it, beside the collector that takes what it records, and passes
// its status on.
#include <signal.h>
#include <time.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tracer/collect/backlog_room.h"
#include "tracer/collect/recording_switch.h"
#include "tracer/collect/spool_reader.h"
#include "tracer/collect/timing.h"
#include "tracer/gtrace/record/collector_process.h"
#include "tracer/gtrace/commands.h"
#include "tracer/gtrace/record/capture_options.h"
#include "tracer/gtrace/record/own_functions.h"
#include "tracer/gtrace/record/save.h"
#include "tracer/interpose/entry_patch.h"
#include "tracer/interpose/launch.h"
#include "tracer/interpose/program_file.h"
#include "tracer/lib/ticks.h"
#include "traces/base/command_line.h"
#include "traces/contents/content_file.h"

namespace gt::tracer {

namespace {

constexpr const char* Program = "gtrace run";
constexpr uint64_t SmallestTrace = 256 << 10;

// The memory of the command line, from argv[0] on; nothing when it is not in one piece.
std::span<char> title_of(int argc, char** argv) {
  char* end = argv[0];
  for (int i = 0; i < argc; ++i) {
    if (argv[i] != end) return {};
    end += std::strlen(argv[i]) + 1;
  }
  return {argv[0], end};
}

SpoolHeader* g_spool = nullptr;  // for the signal handler

// --on-signal control
void control(int number) {
  if (number == SIGUSR1) g_spool->snapshots_wanted.fetch_add(1);
  if (number == SIGUSR2 && !pause_recording(*g_spool)) resume_recording(*g_spool);
}

std::vector<int> take_control(SpoolHeader& spool) {
  g_spool = &spool;
  struct sigaction action {};
  action.sa_handler = control;
  action.sa_flags = SA_RESTART;
  for (const int number : {SIGUSR1, SIGUSR2}) sigaction(number, &action, nullptr);
  return {SIGUSR1, SIGUSR2};
}

// What the program brings of OpenCL and of allocation itself is led to the recorder, or said to be out of reach.
std::vector<std::string> patch_own(interpose::LaunchRequest& request) {
  const auto program = interpose::find_program(request.command.front());
  if (!program || !program->preloadable) return {};
  const interpose::EntryPlan own = plan_own_functions(program->binary);
  request.patched = true;
  if (!own.text.empty()) request.variables.emplace_back(interpose::EntryPlanVariable, own.text);
  std::vector<std::string> obstacles;
  for (const auto& [name, reason] : own.refused) {
    obstacles.push_back(fmt::format("calls of {}'s own {} will not be seen: {}", program->binary, name, reason));
  }
  return obstacles;
}

constexpr uint64_t SmallestTransfer = 4096;  // that another memory makes faster

Status memory_detail(const Options& options, SpoolReader::Options& spool) {
  const std::optional<uint64_t> from = options.size("detail-from");
  if (options.flag("no-memory-detail")) {
    spool.listed_from = from.value_or(SmallestTransfer);
  } else if (from) {
    return Status(Kind::Invalid, "--detail-from says from which size on --no-memory-detail lists blocks: give both");
  }
  return {};
}

Result<SpoolReader::Options> spool_options(const Options& options) {
  SpoolReader::Options spool;
  const std::optional<TimingChoice> timing = parse_timing(options.text("timing"));
  if (!timing) {
    return Status(Kind::Invalid, "--timing: '" + options.text("timing") +
                                     "' is not one of auto, all, off, kernels, transfers, sample:N");
  }
  spool.timing = timing->timing;
  // A timeline is to hold every command.
  spool.sample = timing->sample == 0 && options.flag("timeline") ? 1 : timing->sample;
  if (Status s = capture_options(options, spool); !s) return s;
  spool.record_memory = !options.flag("no-alloc");
  if (Status s = memory_detail(options, spool); !s) return s;
  spool.stack_bytes = static_cast<uint64_t>(options.integer("stacks").value_or(0));
  spool.exact_times = options.flag("timeline");
  spool.paused = options.flag("paused");
  spool.most_backlog = MostBacklog;
  if (const std::optional<uint64_t> most = options.size("max-size")) {
    if (*most < SmallestTrace) return Status(Kind::Invalid, "--max-size: no trace fits into less than 256K");
    spool.max_trace_bytes = *most;
  }
  return spool;
}

constexpr std::chrono::milliseconds LongWait{1000};

std::string time_of_day() {
  char text[16] = "";
  const time_t now = time(nullptr);
  tm local{};
  if (localtime_r(&now, &local)) strftime(text, sizeof text, "%H:%M:%S", &local);
  return text;
}

// Seconds for which a thread of the program has now waited for the collector.
double waited(const SpoolHeader& spool) {
  const uint64_t since = spool.waiting_since.load(std::memory_order_relaxed), now = ticks();
  return since == 0 || now < since ? 0 : static_cast<double>(now - since) * spool.ns_per_tick / 1e9;
}

// A program may handle Ctrl-C itself, or be stuck where no handler of its can run. Who presses it again and again
// within a moment wants its end.
class Insistence {
 public:
  // At what was pressed since the last call.
  void look(pid_t program, const std::string& name) {
    const unsigned count = interpose::Launched::interrupts();
    const auto now = std::chrono::steady_clock::now();
    for (; seen_ != count; ++seen_) pressed_.push_back(now);
    while (!pressed_.empty() && now - pressed_.front() > Moment) pressed_.pop_front();
    if (pressed_.size() >= Enough) {
      fmt::print(stderr, "gtrace: killed {}, process {}, which did not end of itself\n", name, program);
      kill(program, SIGKILL);
      pressed_.clear();
    } else if (pressed_.size() >= Enough / 2 + 1 && !said_) {
      said_ = true;
      fmt::print(stderr, "gtrace: {} goes on in spite of Ctrl-C; pressed {} times within {} s, that kills it\n", name,
                 Enough, Moment.count());
    }
  }

 private:
  static constexpr std::chrono::seconds Moment{2};
  static constexpr size_t Enough = 5;
  unsigned seen_ = interpose::Launched::interrupts();
  std::deque<std::chrono::steady_clock::time_point> pressed_;
  bool said_ = false;
};

// Until the program has ended. Once when it waits for us for long; and who wants it to end while it does gets it out of
// the recorder, where it may be blind to that.
void wait_for_end(interpose::Launched& program, SpoolHeader& spool, const std::string& name) {
  bool said = false;
  const unsigned before = interpose::Launched::interrupts();
  Insistence insistence;
  while (!program.wait(LongWait / 4)) {
    insistence.look(program.pid(), name);
    const double seconds = waited(spool);
    if (!said && seconds >= 1) {
      said = true;
      fmt::print(stderr, "gtrace: {} has waited for {:.0f} s (it is {}) for the collector, process {}, to take its "
                         "records; it goes on as soon as that does; Ctrl-C or 'gtrace ctl end' ends the recording\n",
                 name, seconds, time_of_day(), spool.collector_pid);
    }
    uint32_t on = RecordingOn;
    if (seconds > 0 && interpose::Launched::interrupts() != before &&
        spool.off.compare_exchange_strong(on, RecordingEnded)) {
      fmt::print(stderr, "gtrace: the recording ends here, because {} waited for the collector; it goes on without\n",
                 name);
    }
  }
}

using Clock = std::chrono::steady_clock;

model::RunUsage usage_of(const interpose::Launched& program, Clock::duration ran) {
  const auto ns = [](const timeval& t) {
    return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_usec) * 1000;
  };
  const rusage& used = program.usage();
  return {static_cast<uint64_t>(std::chrono::nanoseconds(ran).count()), ns(used.ru_utime), ns(used.ru_stime),
          static_cast<uint64_t>(used.ru_minflt), static_cast<uint64_t>(used.ru_majflt)};
}

// The program's status, unless the trace could not be written.
int finish(CollectorProcess& collector, const std::string& spool, const std::string& output,
           interpose::Launched program, Clock::duration ran) {
  const int status = program.exit_status();
  collector.tell({program.pid(), true, status, program.signal(), usage_of(program, ran)});
  std::optional<interpose::Launched> signals(std::move(program));
  if (!collector.answers(LongWait)) {
    signals.reset();  // before it is said that Ctrl-C works again
    fmt::print(stderr, "gtrace: the program has ended; waiting since {} for the collector, process {}, to write {}; "
                       "Ctrl-C leaves it to that (if it does not come to it: gtrace recover {})\n",
               time_of_day(), collector.pid(), output, spool);
  }
  std::optional<Closing> closing = collector.closing();
  if (closing && closing->waiting) {
    signals.reset();  // Ctrl-C may end the waiting; the collector goes on
    closing = collector.closing();
  }
  if (closing) return closing->status == ExitOk ? status : closing->status;
  fmt::print(stderr, "gtrace: the collector died ({}); what it had not taken yet is kept: gtrace recover {}\n",
             collector.cause_of_death(), spool);
  return status;
}

}  // namespace

int run_command(int argc, char** argv) {
  CommandLine line(Program, "Runs APP ARGS... and records every OpenCL and memory call of it.");
  const Options& options = line.options();
  line.takes_command();
  if (auto status = line.parse(argc, argv)) return *status;
  const std::vector<std::string> command = line.command();
  if (command.empty())
    return fail(Program, Status(Kind::Invalid, "no program given: gtrace run [OPTIONS] -- APP ARGS..."));

  const std::string output = options.text("output");
  if (Status s = check_writable(output); !s) return fail(Program, s);
  const Result<std::string> library = interpose::injected_library("trace");
  if (!library) return fail(Program, library.status());

  const Result<SpoolReader::Options> wanted = spool_options(options);
  if (!wanted) return fail(Program, wanted.status());
  if (wanted->capture == Capture::Full && contents::path_beside(output) == output)
    return fail(Program, Status(Kind::Invalid, output + " is where the contents would go: give -o another name"));
  Result<SpoolReader> spool = SpoolReader::create(*wanted);
  if (!spool) return fail(Program, spool.status());
  const CollectorJob job{output, command[0], *library, options.flag("wait"), options.flag("timeline")};
  Result<CollectorProcess> collector = CollectorProcess::start(*spool, job, title_of(argc, argv));
  if (!collector) {
    spool->remove();
    return fail(Program, collector.status());
  }

  interpose::LaunchRequest request;
  request.command = command;
  request.library = *library;
  request.layer = true;
  request.variables = {{SpoolVariable, spool->path()}};
  std::vector<std::string> obstacles = patch_own(request);
  Result<interpose::LaunchPlan> plan = interpose::plan_launch(request);
  if (!plan) return fail(Program, plan.status());
  obstacles.insert(obstacles.begin(), plan->obstacles.begin(), plan->obstacles.end());
  for (const std::string& obstacle : obstacles) fmt::print(stderr, "gtrace: {}\n", obstacle);
  if (!obstacles.empty() && options.flag("strict")) return ExitEnvironment;
  if (options.text("on-signal") == "control") plan->own_signals = take_control(spool->header());

  const Clock::time_point begin = Clock::now();
  Result<interpose::Launched> program = interpose::Launched::start(*plan);
  if (!program) return fail(Program, program.status());
  collector->tell({program->pid()});
  wait_for_end(*program, spool->header(), command[0]);
  return finish(*collector, spool->path(), output, std::move(*program), Clock::now() - begin);
}

}  // namespace gt::tracer
