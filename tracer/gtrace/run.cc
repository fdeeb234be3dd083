// gtrace run: starts a program with the recorder in it, drains what it records, and writes the
// trace when it ends.
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tracer/collect/pace.h"
#include "tracer/collect/session.h"
#include "tracer/gtrace/commands.h"
#include "tracer/gtrace/mapped_opencl.h"
#include "tracer/gtrace/own_functions.h"
#include "tracer/gtrace/save.h"
#include "tracer/gtrace/units.h"
#include "tracer/interpose/entry_patch.h"
#include "tracer/interpose/launch.h"
#include "tracer/interpose/program_file.h"
#include "traces/base/settings_cli.h"

namespace gt::tracer {

namespace {

constexpr const char* Program = "gtrace run";

Timing timing_of(const std::string& name) {
  if (name == "off") return Timing::Off;
  if (name == "kernels") return Timing::Kernels;
  if (name == "transfers") return Timing::Transfers;
  return Timing::All;
}

// Everything from the first word that is not an option of ours.
std::vector<std::string> command_of(const CLI::App& app) {
  std::vector<std::string> command = app.remaining();
  if (!command.empty() && command[0] == "--") command.erase(command.begin());
  return command;
}

void report(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) fmt::print(stderr, "gtrace: {}\n", line);
}

// What the recording cannot vouch for, one line each.
std::vector<std::string> losses(const model::Trace& trace) {
  const std::pair<const char*, const char*> kinds[] = {
      {"lost.calls_inside_signal_handlers", "calls made inside signal handlers were not recorded"},
      {"lost.threads_without_ring",
       "threads found no shared memory to record into (free space in /dev/shm)"},
      {"lost.undecodable_records", "records could not be decoded (please report this)"},
      {"lost.damaged_rings", "threads overwrote their recording memory; their calls end early"},
  };
  std::vector<std::string> lines;
  for (const auto& [name, text] : kinds) {
    const std::string_view count = trace.fact(name);
    if (!count.empty() && count != "0") lines.push_back(fmt::format("note: {} {}", count, text));
  }
  return lines;
}

// No call was seen: did the process have an OpenCL that calls could have gone to?
std::string nothing_seen(const model::Trace& trace, const std::string& name, const std::string& injected) {
  const std::vector<std::string> libraries = mapped_opencl(trace, injected);
  if (libraries.empty()) return fmt::format("{} made no OpenCL call, and loaded no OpenCL library", name);
  return fmt::format("{} made no OpenCL call that gtrace could see; the OpenCL that it loaded: {}", name,
                     fmt::join(libraries, ", "));
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

// Ends with the path written and the next command to run.
int finish(Session& session, const std::string& output, const interpose::Launched& program,
           const std::string& name, const std::string& injected) {
  model::Trace trace = session.finish();
  if (!trace.processes.empty()) {
    trace.processes[0].exit_code = program.signal() ? -1 : program.exit_status();
    trace.processes[0].exit_signal = program.signal();
  }
  report(losses(trace));
  Status trouble;
  const Result<std::string> written = save_trace(output, trace, trouble);
  if (!written) {
    session.keep_spool();
    report({fmt::format("{}; nothing is lost: free some space, then gtrace recover {}",
                        written.status().text(), session.spool_path())});
    return ExitEnvironment;
  }
  if (!trouble.ok())
    report({fmt::format("{}: the trace went to {} instead", trouble.text(), *written)});
  if (trace.fact("calls") == "0") {
    report({fmt::format("{} ({} memory calls): {}", nothing_seen(trace, name, injected), trace.fact("memory_calls"),
                        *written)});
  } else {
    report({fmt::format("{} OpenCL calls and {} memory calls in {}; next: ganalyze {}", trace.fact("calls"),
                        trace.fact("memory_calls"), *written, *written)});
  }
  return program.exit_status();
}

}  // namespace

int run_command(int argc, char** argv) {
  CLI::App app("Runs APP ARGS... and records every OpenCL and memory call of it.", Program);
  Options options(app, Program);
  app.prefix_command();
  if (auto status = parse_arguments(app, argc, argv)) return *status;
  const std::vector<std::string> command = command_of(app);
  if (command.empty())
    return fail(Program,
                Status(Kind::Invalid, "no program given: gtrace run [OPTIONS] -- APP ARGS..."));

  const std::string output = options.text("output");
  if (Status s = check_writable(output); !s) return fail(Program, s);
  const Result<std::string> library = interpose::injected_library("trace");
  if (!library) return fail(Program, library.status());

  SpoolReader::Options spool;
  spool.timing = timing_of(options.text("timing"));
  spool.record_memory = !options.flag("no-alloc");
  spool.stack_bytes = static_cast<uint64_t>(options.integer("stacks").value_or(0));
  Result<std::unique_ptr<Session>> session = Session::begin(spool);
  if (!session) return fail(Program, session.status());
  if (options.flag("timeline")) (*session)->keep_times();

  interpose::LaunchRequest request;
  request.command = command;
  request.library = *library;
  request.layer = true;
  request.variables = {{SpoolVariable, (*session)->spool_path()}};
  std::vector<std::string> obstacles = patch_own(request);
  const Result<interpose::LaunchPlan> plan = interpose::plan_launch(request);
  if (!plan) return fail(Program, plan.status());
  obstacles.insert(obstacles.begin(), plan->obstacles.begin(), plan->obstacles.end());
  report(obstacles);
  if (!obstacles.empty() && options.flag("strict")) return ExitEnvironment;

  Result<interpose::Launched> program = interpose::Launched::start(*plan);
  if (!program) return fail(Program, program.status());
  Pace pace;
  while (!program->wait(std::chrono::milliseconds(0))) pace.rest((*session)->pump());
  return finish(**session, output, *program, command[0], *library);
}

}  // namespace gt::tracer
