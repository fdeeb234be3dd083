// gtrace ctl: switches or ends a recording that runs, asks it for a snapshot, or says how it stands. The spool's header
// is the channel; nobody is interrupted.
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tracer/collect/recording_switch.h"
#include "tracer/gtrace/commands.h"
#include "tracer/gtrace/record/recordings.h"
#include "traces/base/command_line.h"

namespace gt::tracer {

namespace {

constexpr const char* Program = "gtrace ctl";

bool has_ended(const SpoolHeader& spool) { return spool.off.load() == RecordingEnded; }

Status ended() { return {Kind::Disconnected, "the recording has ended"}; }

const char* state_of(const SpoolHeader& spool) {
  switch (spool.off.load()) {
    case RecordingOn:
      return "recording";
    case RecordingPaused:
      return "paused";
    default:
      return "ending";
  }
}

Status print_status(SpoolReader& recording) {
  const SpoolHeader& spool = recording.header();
  const std::string snapshot = spool.trace_path;
  fmt::print("gtrace {} (collector {}): process {}, {}; {} OpenCL calls, {} memory calls{}{}\n", spool.gtrace_pid,
             spool.collector_pid, spool.program_pid.load(), state_of(spool), spool.calls.load(),
             spool.memory_calls.load(), snapshot.empty() ? "" : "; snapshot ", snapshot);
  return {};
}

Status start(SpoolReader& recording) {
  resume_recording(recording.header());
  return has_ended(recording.header()) ? ended() : Status();
}

Status stop(SpoolReader& recording) {
  pause_recording(recording.header());
  return has_ended(recording.header()) ? ended() : Status();
}

// Prints the path of the trace when it is written.
Status snapshot(SpoolReader& recording) {
  SpoolHeader& spool = recording.header();
  if (!await_snapshot(spool)) return ended();
  if (spool.snapshot_failed.load()) return {Kind::System, "the snapshot could not be written (is the disk full?)"};
  fmt::print("{}\n", spool.trace_path);
  return {};
}

// Of the recording, not of the program.
Status end(SpoolReader& recording) {
  recording.header().off.store(RecordingEnded);
  return {};
}

struct Action {
  const char* name;
  Status (*act)(SpoolReader&);
};
constexpr Action Actions[] = {
    {"start", start}, {"stop", stop}, {"end", end}, {"snapshot", snapshot}, {"status", print_status}};

const Action* find_action(const std::string& name) {
  for (const Action& a : Actions) {
    if (name == a.name) return &a;
  }
  return nullptr;
}

Status act_on(const std::vector<SpoolReader*>& recordings, const Action& action) {
  const bool each = action.act == print_status && !recordings.empty();
  if (!each) GT_TRY(exactly_one(recordings));
  for (SpoolReader* r : recordings) GT_TRY(action.act(*r));
  return {};
}

}  // namespace

int ctl_command(int argc, char** argv) {
  CommandLine line(Program, "Switches a running recording on and off, or writes what it has so far.");
  const Options& options = line.options();
  std::string name;
  line.argument("ACTION", name, "start, stop, end (the program goes on), snapshot (prints the trace's path), status",
                CommandLine::Need::Required);
  if (auto status = line.parse(argc, argv)) return *status;
  const Action* action = find_action(name);
  if (!action) return fail(Program, Status(Kind::Invalid, fmt::format("no action '{}' (see --help)", name)));

  std::vector<SpoolReader> running = find_recordings(false);
  const std::vector<SpoolReader*> chosen = chosen_recordings(running, options.integer("pid"));
  if (Status s = act_on(chosen, *action); !s) return fail(Program, s);
  return ExitOk;
}

}  // namespace gt::tracer
