// gtrace top: what a recorded program does, again and again while it runs.
//
// A snapshot of the recording (snapshots.h) is asked for and read at each interval; what is printed is its difference
// to the one before. Intervals grow until a snapshot, with reading it, costs at most 1 % of a processor.
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "tracer/gtrace/base/output.h"
#include "tracer/gtrace/base/units.h"
#include "tracer/gtrace/commands.h"
#include "tracer/gtrace/record/recordings.h"
#include "tracer/gtrace/stats/rates.h"
#include "tracer/gtrace/stats/rates_text.h"
#include "tracer/lib/process_state.h"
#include "traces/base/command_line.h"
#include "traces/store/trace_db.h"

namespace gt::tracer {

namespace {

constexpr const char* Program = "gtrace top";
constexpr double CostShare = 100;  // an interval is at least this many times what its snapshot cost
constexpr double Shortest = 0.1, Longest = 3600;
constexpr const char* ClearScreen = "\x1b[H\x1b[2J";

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

void nap() {
  const timespec time{0, 10'000'000};
  nanosleep(&time, nullptr);
}

// Processor time that this process has taken.
double own_cpu_s() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto s = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; };
  return s(used.ru_utime) + s(used.ru_stime);
}

// What the children of a process took that it has waited for: the copies of a collector that wrote snapshots. From
// /proc/PID/stat, behind the name's last parenthesis: user and system time are words 14 and 15.
double children_cpu_s(int pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text, word;
  std::getline(file, text);
  std::istringstream words(text.substr(std::min(text.rfind(')') + 1, text.size())));
  double ticks = 0;
  for (int i = 1; i <= 15 && words >> word; ++i)
    if (i >= 14) ticks += std::strtod(word.c_str(), nullptr);
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

class Watching {
 public:
  Watching(SpoolReader& recording, double interval_s, const RatesStyle& style)
      : recording_(recording), least_s_(interval_s), style_(style) {}

  // Until the recording has ended, or nobody reads what is printed.
  int run() {
    for (bool ended = false; !ended && out_.open();) {
      const Clock::time_point asked = Clock::now();
      const double cpu_before = cpu_s();
      ended = !await_snapshot(spool()) || !lives();  // then what it left is whole
      if (const Status s = look(asked, ended); !s) return fail(Program, s);
      const double cost_s = ended ? 0 : cpu_s() - cpu_before;
      const Seconds next(std::max(least_s_, CostShare * cost_s));
      while (!ended && Clock::now() - asked < next) {
        if (!lives()) break;
        nap();
      }
    }
    return out_.finish();
  }

 private:
  SpoolHeader& spool() { return recording_.header(); }
  double cpu_s() { return own_cpu_s() + children_cpu_s(spool().collector_pid); }

  bool lives() {
    return spool().off.load() != RecordingEnded && process_lives(spool().collector_pid, spool().collector_start);
  }

  Status look(Clock::time_point asked, bool ended) {
    const std::string path = spool().trace_path;
    if (path.empty()) return {Kind::Disconnected, "the recording has ended without a trace"};
    const Result<model::Trace> trace = store::read_trace(path);
    if (!trace) return trace.status();
    const Rates now = sums_of(*trace);
    // The first look has nothing to compare with: its rates would be those of the whole run so far.
    if (before_) print({between(*before_, now), now.calls, Seconds(asked - asked_).count(), ended});
    if (!before_ && ended) print({between(Rates(), now), now.calls, 0, true});
    before_ = now;
    asked_ = asked;
    return {};
  }

  void print(const RatesShown& shown) {
    if (style_.json) {
      out_.write(rates_json(shown, style_.rows) + "\n");
    } else {
      if (style_.terminal) out_.write(ClearScreen);
      print_rates(shown, style_, out_);
    }
    out_.send();
  }

  SpoolReader& recording_;
  const double least_s_;
  const RatesStyle style_;
  Output out_;
  std::optional<Rates> before_;
  Clock::time_point asked_;
};

}  // namespace

int top_command(int argc, char** argv) {
  CommandLine line(Program, "Shows what a program does while gtrace run records it: rates since the last look.");
  const Options& options = line.options();
  if (auto status = line.parse(argc, argv)) return *status;
  const double interval_s = options.real("interval").value_or(1);
  if (!(interval_s >= Shortest && interval_s <= Longest)) {
    return fail(Program, {Kind::Invalid, fmt::format("--interval: {} to {} seconds", Shortest, Longest)});
  }
  RatesStyle style;
  style.json = options.flag("json");
  style.rows = static_cast<size_t>(options.integer("rows").value_or(10));
  style.terminal = output_is_terminal();
  style.width = style.terminal ? terminal_width() : 0;

  std::vector<SpoolReader> running = find_recordings(false);
  const std::vector<SpoolReader*> chosen = chosen_recordings(running, options.integer("pid"));
  if (const Status s = exactly_one(chosen); !s) return fail(Program, s);
  return Watching(*chosen[0], interval_s, style).run();
}

}  // namespace gt::tracer
