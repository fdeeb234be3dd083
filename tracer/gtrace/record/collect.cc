// The life of the collector process.
//
//   Running ──news: ended──► Lingering ──nobody records──► Last: finish, write, say so
//      │                        │ (no --wait, somebody still does) snapshot, Closing{detached}, then on without a
//      parent └──end of file──► Orphaned: the same without an exit status
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tracer/collect/pace.h"
#include "tracer/collect/session.h"
#include "tracer/collect/spool_users.h"
#include "tracer/gtrace/record/capture_options.h"
#include "tracer/gtrace/record/collector_process.h"
#include "tracer/gtrace/record/mapped_opencl.h"
#include "tracer/gtrace/record/save.h"
#include "tracer/gtrace/record/snapshots.h"
#include "tracer/gtrace/record/touch_costs.h"
#include "tracer/gtrace/record/trace_cost.h"
#include "tracer/gtrace/base/units.h"
#include "traces/base/command.h"
#include "traces/base/progress.h"
#include "traces/model/folded/memory_detail.h"

namespace gt::tracer {

namespace {

void say(const std::string& line) { fmt::print(stderr, "gtrace: {}\n", line); }

// What the recording cannot vouch for, one line each.
void say_losses(const model::Trace& trace) {
  const std::pair<const char*, const char*> kinds[] = {
      {"lost.calls_inside_signal_handlers", "calls made inside signal handlers were not recorded"},
      {"lost.threads_without_ring", "threads found no shared memory to record into (free space in /dev/shm)"},
      {"lost.undecodable_records", "records could not be decoded (please report this)"},
      {"lost.damaged_rings", "threads overwrote their recording memory; their calls end early"},
      {"lost.spilled_pieces", "pieces of what waited for the collector could not be read again"},
  };
  for (const auto& [name, text] : kinds) {
    const std::string_view count = trace.fact(name);
    if (!count.empty() && count != "0") say(fmt::format("note: {} {}", count, text));
  }
}

// Programs that it started, out of our reach.
void say_not_followed(const model::Trace& trace, const CollectorJob& job) {
  const std::string_view count = trace.fact("lost.programs_not_followed");
  const std::string first(trace.fact("programs_not_followed.first"));
  if (!first.empty() && count != "0")
    say(fmt::format("note: {} programs that it started could not be recorded, the first: {}", count, first));
  for (const std::string& program : own_opencl_of_others(trace, job.program)) {
    say(fmt::format("note: {} has OpenCL linked into it, whose calls were not seen: give it to gtrace run itself",
                    program));
  }
}

// Where --no-memory-detail could not count.
void say_listed_whole(const model::MemoryDetail& detail) {
  if (detail.whole_processes == 0) return;
  say(fmt::format("note: {} processes have an allocator that does not tell the sizes of blocks: all their memory calls "
                  "are listed", detail.whole_processes));
}

// What --max-size left out; nothing when everything fitted.
void say_left_out(const model::Trace& trace) {
  const auto count = [&](const char* name) { return std::string(trace.fact(name)); };
  const std::string calls = count("summarised.calls"), memory = count("summarised.memory_calls"),
                    values = count("summarised.values");
  if (calls.empty() || (calls == "0" && memory == "0" && values == "0")) return;
  say(fmt::format("note: --max-size left out {} OpenCL calls, {} memory calls and {} values of others; "
                      "counts and times are of all calls", calls, memory, values));
}

// Once: whose data lies where, how much of the disk it takes, and what is not there.
void say_contents(const model::Trace& trace, const std::string& file) {
  const std::string count(trace.fact("contents.stored")), left_out(trace.fact("lost.contents_left_out"));
  if (count.empty()) return;
  const auto bytes = [&](const char* name) { return human_bytes(std::stoull(std::string(trace.fact(name)))); };
  std::string text = fmt::format("note: {} holds data of the program: {} contents, {}, which take {} there", file,
                                 count, bytes("contents.bytes"), bytes("contents.file_bytes"));
  if (left_out != "0") {
    const std::string_view trouble = trace.fact("contents.trouble");
    text += fmt::format("; {} contents, {}, were left out ({})", left_out, bytes("lost.bytes_of_contents_left_out"),
                        trouble.empty() ? "--max-size" : trouble);
  }
  say(text);
}

// Names are never left out: a trace of very many of them may be larger than was asked for.
void say_too_large(const model::Trace& trace, const std::string& file) {
  const std::string most(trace.fact("max_size"));
  std::error_code unknown;
  uint64_t bytes = std::filesystem::file_size(file, unknown);
  if (const std::string contents(trace.fact("contents.file_bytes")); !contents.empty()) bytes += std::stoull(contents);
  if (unknown || most.empty() || bytes <= std::stoull(most)) return;
  say(fmt::format("note: the trace takes {}, more than --max-size: its tables of names are not cut",
                  human_bytes(bytes)));
}

std::string memory_calls_text(const model::Trace& trace) {
  std::string text = fmt::format("{} memory calls", trace.fact("memory_calls"));
  if (const auto detail = model::read_memory_detail(trace); detail && detail->calls() > 0)
    text += fmt::format(" ({} more, of blocks below {}, were only counted)", detail->calls(),
                        human_bytes(detail->from));
  return text;
}

// What may surprise whoever looks at the disk, or waited for us.
void say_cost(const model::Trace& trace, const std::string& file, bool late) {
  std::error_code unknown;
  const uint64_t bytes = std::filesystem::file_size(file, unknown);
  const std::string text = unknown ? "" : trace_cost(trace, file, bytes, late);
  if (!text.empty()) say("note: " + text);
}

// No call was seen: did the process have an OpenCL that calls could have gone to?
std::string nothing_seen(const model::Trace& trace, const CollectorJob& job) {
  const std::vector<std::string> libraries = mapped_opencl(trace, job.injected);
  if (libraries.empty()) return fmt::format("{} made no OpenCL call, and loaded no OpenCL library", job.program);
  return fmt::format("{} made no OpenCL call that gtrace could see; the OpenCL that it loaded: {}", job.program,
                     fmt::join(libraries, ", "));
}

class Collecting {
 public:
  Collecting(SpoolReader spool, Fd channel, const CollectorJob& job)
      : session_(std::move(spool)),
        channel_(std::move(channel)),
        job_(job),
        file_(job.output),
        users_(session_.spool_path(), session_.header().collector_start) {
    if (job.timeline) session_.keep_times();
    session_.spill_to(file_.spill_path(), session_.header().max_trace_bytes);
    if (session_.header().capture != Capture::Full) return;
    if (const Status s = session_.keep_contents(file_.stage_contents()); !s.ok())
      say(fmt::format("contents are not kept: {}", s.text()));
  }

  int run() {
    {
      Snapshots snapshots(session_, file_);
      while (goes_on(snapshots)) {
        listen(pace_.nap(session_.pump(Session::Portion)));
        snapshots.tick();
        say_spill_trouble();
      }
    }
    listen(std::chrono::nanoseconds(0));  // a recording may end before this process had its first turn
    catch_up();
    const int status = never_started() ? ExitOk : finish();
    close_with({.status = status});
    return status;
  }

 private:
  using Clock = std::chrono::steady_clock;

  // Sleeps, or hears what `gtrace run` has to say.
  void listen(std::chrono::nanoseconds nap) {
    const timespec time{0, static_cast<long>(nap.count())};
    pollfd watched{channel_.get(), POLLIN, 0};
    if (ppoll(&watched, channel_.open() ? 1 : 0, &time, nullptr) <= 0) return;
    ProgramNews news;
    if (recv(channel_.get(), &news, sizeof news, MSG_DONTWAIT) == sizeof news) {
      hear(news);
    } else {
      channel_ = Fd();
    }
  }

  void hear(const ProgramNews& news) {
    program_ = news;
    session_.header().program_pid.store(news.pid);
    if (!news.ended) return;
    ran_ = Clock::now() - begin_;
    linger_from_ = Clock::now() + LingerDelay;
  }

  bool goes_on(Snapshots& snapshots) {
    if (session_.header().off.load() == RecordingEnded) return false;  // gtrace ctl end
    if (channel_.open() && !program_.ended) return true;
    if (!users_.any()) return false;
    if (channel_.open() && !waiting_ && Clock::now() > linger_from_) linger(snapshots);
    return true;
  }

  // Once.
  void say_spill_trouble() {
    if (spill_trouble_said_ || session_.spill_trouble().ok()) return;
    spill_trouble_said_ = true;
    say(fmt::format("{}: {} waits for the collector when it is too fast for it", session_.spill_trouble().text(),
                    job_.program));
  }

  // What the program left in memory and beside the trace when it was faster than we.
  void catch_up() {
    constexpr const char* What = "gtrace: taking what the program left";
    session_.program_ended();
    const Clock::time_point begin = Clock::now();
    const uint64_t waiting = session_.waiting_bytes();
    {
      Progress progress(What, waiting, LongFolding);
      while (session_.pump(Session::Portion) > 0)
        progress.show(What, waiting - std::min(waiting, session_.waiting_bytes()));
    }
    const std::chrono::duration<double> took = Clock::now() - begin;
    if (took < LongFolding) return;
    late_ = program_.ended && took > ran_;
    say(fmt::format("{} of records waited when {} had ended; taking them took {:.1f} s{}", human_bytes(waiting),
                    job_.program, took.count(), late_ ? ", longer than it had run" : ""));
  }

  // The program has ended; processes that it left behind have not.
  void linger(Snapshots& snapshots) {
    const int pid = users_.known().front().pid;
    waiting_ = true;
    if (job_.wait) {
      say(fmt::format("{} has ended; waiting for its process {} to end, too", job_.program, pid));
      return send_closing({.waiting = true});
    }
    snapshots.take_now();
    say(
        fmt::format("{} has ended; its process {} is still being recorded: {} will be complete when that ends "
                    "(gtrace ctl --pid {} status)",
                    job_.program, pid, file_.path(), pid));
    close_with({.detached = true});
    if (const Fd null(open("/dev/null", O_RDWR)); null.open()) dup2(null.get(), STDERR_FILENO);
  }

  // exec failed, or gtrace went away before the program could be started.
  bool never_started() const {
    return program_.pid == 0 && session_.collector().calls() + session_.collector().memory_calls() == 0;
  }

  void note_ending(model::Trace& trace) const {
    if (!program_.ended) return;
    model::add_run_facts(trace, program_.usage, measure_touch_costs());
    for (model::Process& p : trace.processes) {
      if (p.pid != program_.pid) continue;
      p.exit_code = program_.signal ? -1 : program_.exit_status;
      p.exit_signal = program_.signal;
      return;
    }
  }

  int finish() {
    const uint32_t wishes = session_.header().snapshots_wanted.load();
    model::Trace trace = session_.finish();
    note_ending(trace);
    say_losses(trace);
    say_not_followed(trace, job_);
    say_left_out(trace);
    if (const auto detail = model::read_memory_detail(trace)) say_listed_whole(*detail);
    Status trouble;
    const Result<std::string> written = file_.save(trace, trouble);
    grant_snapshots(session_.header(), wishes, written.ok() ? *written : "");
    if (!written) {
      session_.keep_spool();
      say(fmt::format("{}; nothing is lost: free some space, then gtrace recover {}", written.status().text(),
                      session_.spool_path()));
      return ExitEnvironment;
    }
    say_contents(trace, file_.contents_path());
    if (const std::string line = capture_line(trace); !line.empty()) say("note: " + line);
    say_too_large(trace, *written);
    say_cost(trace, *written, late_);
    if (!trouble.ok()) say(fmt::format("{}: the trace went to {} instead", trouble.text(), *written));
    if (trace.fact("pauses") != "0") say("note: recording was off for a while; what happened then is not in the trace");
    const std::string memory = memory_calls_text(trace);
    if (trace.fact("calls") == "0") {
      say(fmt::format("{} ({}): {}", nothing_seen(trace, job_), memory, *written));
    } else {
      say(fmt::format("{} OpenCL calls and {} in {}; next: ganalyze {}", trace.fact("calls"), memory, *written,
                      *written));
    }
    return ExitOk;
  }

  void close_with(const Closing& closing) {
    if (!closing.detached) session_.remove_spool();
    send_closing(closing);
    channel_ = Fd();
  }

  void send_closing(const Closing& closing) {
    if (channel_.open()) send(channel_.get(), &closing, sizeof closing, MSG_NOSIGNAL);
  }

  // How long processes that are about to end anyway may take before they count as left behind.
  static constexpr std::chrono::milliseconds LingerDelay{300};
  static constexpr std::chrono::milliseconds LongFolding{1000};

  Session session_;
  Fd channel_;
  CollectorJob job_;
  TraceFile file_;
  SpoolUsers users_;
  Pace pace_;
  ProgramNews program_;
  const Clock::time_point begin_ = Clock::now();
  Clock::duration ran_{};  // the program, when it has ended
  Clock::time_point linger_from_{};
  bool waiting_ = false, late_ = false, spill_trouble_said_ = false;
};

}  // namespace

int collect(SpoolReader spool, Fd channel, const CollectorJob& job) {
  Collecting collecting(std::move(spool), std::move(channel), job);
  return collecting.run();
}

}  // namespace gt::tracer
