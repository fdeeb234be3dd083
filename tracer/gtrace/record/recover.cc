// gtrace recover: makes the trace of a recording whose collector died, from what its spool still holds.
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tracer/collect/session.h"
#include "tracer/gtrace/commands.h"
#include "tracer/gtrace/record/recordings.h"
#include "tracer/gtrace/record/save.h"
#include "traces/base/command_line.h"

namespace gt::tracer {

namespace {

constexpr const char* Program = "gtrace recover";

Result<std::string> find_spool(const std::string& given) {
  if (!given.empty()) return given;
  std::vector<std::string> found;
  for (const SpoolReader& spool : find_recordings(true)) found.push_back(spool.path());
  if (found.size() == 1) return found[0];
  if (found.empty()) return Status(Kind::Invalid, "no recording to recover was left behind in /dev/shm or TMPDIR");
  return Status(Kind::Invalid,
                fmt::format("{} recordings were left behind; name one: {}", found.size(), fmt::join(found, " ")));
}

}  // namespace

int recover_command(int argc, char** argv) {
  CommandLine line(Program, "Writes what a recording's collector had not taken yet when it died.");
  const Options& options = line.options();
  std::string given;
  line.argument("SPOOL", given, "The recording's shared memory; by default the one that was left behind");
  if (auto status = line.parse(argc, argv)) return *status;
  const Result<std::string> spool = find_spool(given);
  if (!spool) return fail(Program, spool.status());
  const std::string output = options.text("output");
  if (Status s = check_writable(output); !s) return fail(Program, s);
  Result<std::unique_ptr<Session>> session = Session::recover(*spool);
  if (!session) return fail(Program, session.status());
  if (options.flag("timeline")) (*session)->keep_times();
  TraceFile file(output);
  if ((*session)->header().capture == Capture::Full) {
    file.discard_contents_by((*session)->header().collector_pid);
    if (const Status s = (*session)->keep_contents(file.stage_contents()); !s.ok()) return fail(Program, s);
  }

  const model::Trace trace = (*session)->finish();
  Status trouble;
  const Result<std::string> written = file.save(trace, trouble);
  if (!written) return fail(Program, written.status());
  if (!trouble.ok()) fmt::print(stderr, "gtrace: {}: the trace went to {} instead\n", trouble.text(), *written);
  fmt::print(stderr,
             "gtrace: what the collector had not taken yet: {} OpenCL calls and {} memory calls in "
             "{}; next: "
             "ganalyze {}\n",
             trace.fact("calls"), trace.fact("memory_calls"), *written, *written);
  if (const std::string contents = file.contents_path(); !contents.empty())
    fmt::print(stderr, "gtrace: note: {} holds data of the program\n", contents);
  (*session)->discard();
  return ExitOk;
}

}  // namespace gt::tracer
