// gmicrobench: measures platforms and links, and runs the benchmark programs.
#include "microbench/commands/commands.h"
#include "traces/base/program.h"
#include "traces/base/standard_files.h"

int main(int argc, char** argv) {
  gt::reserve_standard_files();
  static constexpr gt::Command Commands[] = {
      {"platform", gt::bench::platform_command, "measure allocation and transfer costs; write platform.json"},
      {"device", gt::bench::device_command, "measure the limits of the devices: latency, throughput, roofline"},
      {"calls", gt::bench::calls_command, "measure what each OpenCL call costs on every device, local or remote"},
      {"apps", gt::bench::apps_command, "run the benchmark programs under several policies; compare their times"},
      {"link", gt::bench::link_command, "measure a link to another process or node: latency, bandwidth, delay window"},
      {"remote", gt::bench::remote_command, "measure a device through a proxy: bandwidth by size beside the raw link"},
  };
  return gt::run_program({"gmicrobench", "gmicrobench measures what this machine can do.", "", Commands}, argc, argv);
}
