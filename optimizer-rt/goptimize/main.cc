// goptimize: runs a program faster, by what its profile says.
#include "optimizer-rt/goptimize/commands.h"
#include "traces/base/program.h"
#include "traces/base/standard_files.h"

int main(int argc, char** argv) {
  gt::reserve_standard_files();
  static constexpr gt::Command Commands[] = {
      {"run", gt::opt::run_command, "run a program with its profile"},
      {"devices", gt::opt::devices_command, "list the OpenCL devices"},
  };
  return gt::run_program({"goptimize", "goptimize runs the same program, faster.", "", Commands}, argc, argv);
}
