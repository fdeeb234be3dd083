// gtrace: records a program's OpenCL and memory calls, and shows what was recorded.
#include "tracer/gtrace/commands.h"
#include "traces/base/program.h"
#include "traces/base/standard_files.h"

int main(int argc, char** argv) {
  gt::reserve_standard_files();
  static constexpr gt::Command Commands[] = {
      {"run", gt::tracer::run_command, "run a program and record it"},
      {"doctor", gt::tracer::doctor_command, "tell what recording a program would see and miss, without running it"},
      {"ctl", gt::tracer::ctl_command, "start, stop or look at a recording that is running"},
      {"top", gt::tracer::top_command, "show what a program does while it is being recorded"},
      {"recover", gt::tracer::recover_command, "write what a recording's collector left when it died"},
      {"show", gt::tracer::show_command,
       "print the folded calls: what each uses and defines, where, how often, how long"},
      {"expand", gt::tracer::expand_command, "print every call with every argument"},
      {"stats", gt::tracer::stats_command, "print summary tables: functions, transfers, kernels, allocations"},
      {"view", gt::tracer::view_command, "show ganalyze's page of the trace in a browser, or serve it on loopback"},
      {"diff", gt::tracer::diff_command, "compare two traces: calls, loops, arguments, times"},
      {"export", gt::tracer::export_command, "write the trace for Perfetto, chrome://tracing, as CSV or JSON"},
      {"replay", gt::tracer::replay_command, "make the recorded calls again, without the program, on any device"},
      {"extract", gt::tracer::extract_command, "write one launch, with its data, as a program that needs no gtrace"},
      {"digest", gt::tracer::digest_command, "print one number for what the program did"},
  };
  return gt::run_program({"gtrace", "gtrace records the OpenCL and memory calls of a program, and shows them.",
                          "A command without FILE takes the newest trace*.db here.", Commands},
                         argc, argv);
}
