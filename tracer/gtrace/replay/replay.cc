// gtrace replay: makes the calls of a trace again.
//
// The replay runs in a process of its own, which may crash as the program did: the trace may be a reproducer of that.
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracer/gtrace/base/open.h"
#include "tracer/gtrace/commands.h"
#include "tracer/gtrace/replay/report.h"
#include "tracer/gtrace/replay/stored_contents.h"
#include "traces/base/command_line.h"

namespace gt::tracer {
namespace {

constexpr int ExitDiffers = 1;

struct ReplayCommand {
  RunOptions run;
  ReportOptions report;
  std::string device;
  Tolerance tolerance;
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

int replay_here(const OpenedTrace& opened, const ReplayCommand& command, LastCall& last_call) {
  Result<std::unique_ptr<OpenClLibrary>> library = OpenClLibrary::open();
  if (!library) return fail("gtrace", library.status());
  const Result<DeviceChoice> devices = DeviceChoice::choose(**library, opened.trace, command.device);
  if (!devices) return fail("gtrace", devices.status());
  ReplayWorld world(opened.trace, **library, *devices);
  world.tolerance = command.tolerance;
  const Result<std::unique_ptr<StoredContents>> contents =
      StoredContents::open(opened.path, opened.trace, command.run.process);
  if (!contents) return fail("gtrace", contents.status());
  world.contents = contents->get();
  if (world.contents && !(*contents)->trouble().ok())
    std::fprintf(stderr, "gtrace: %s\n", (*contents)->trouble().text().c_str());
  Result<RunTimes> times = run_replay(world, command.run, &last_call);
  if (!times) return fail("gtrace", times.status().at(opened.path));
  if (command.run.first == 1 && command.run.last == ~uint64_t{0})
    times->recorded_ns = recorded_ns(opened.trace, command.run.process);
  if (const Status s = print_text(replay_report(world, *times, command.report)); !s.ok()) return fail("gtrace", s);
  return world.outcome.differing() > 0 ? ExitDiffers : ExitOk;
}

// The exit status of the replay; what ended it is told.
int wait_for(pid_t child, const OpenedTrace& opened, const LastCall& last) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  const int signal = WTERMSIG(status);
  const uint64_t number = last.number.load();
  const std::string where =
      number > 0 ? fmt::format("in call T{} #{}, {}", last.thread.load(), number, api::function_name(static_cast<uint16_t>(last.fn.load())))
                 : "before its first call";
  std::fprintf(stderr, "gtrace: %s: the replay was ended by signal %d (%s) %s\n", opened.path.c_str(), signal,
               ::strsignal(signal), where.c_str());
  return 128 + signal;
}

int replay_apart(const OpenedTrace& opened, const ReplayCommand& command) {
  void* const shared = ::mmap(nullptr, sizeof(LastCall), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return fail("gtrace", system_error("cannot replay: mmap", errno));
  LastCall& last = *new (shared) LastCall;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return fail("gtrace", system_error("cannot replay: fork", errno));
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(ExitInternal);
    const int status = replay_here(opened, command, last);
    std::fflush(nullptr);
    ::_exit(status);  // drivers that are being unloaded have nothing to tell
  }
  return wait_for(child, opened, last);
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
  command.run.process = *process;
  return replay_apart(*opened, command);
}

}  // namespace gt::tracer
