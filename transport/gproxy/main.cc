// gproxy: serves a node's OpenCL devices.
#include <cstring>

#include "traces/base/program.h"
#include "transport/gproxy/commands.h"
#include "transport/gproxy/probe.h"
#include "transport/gproxy/worker.h"

int main(int argc, char** argv) {
  // What the supervisor starts; nothing for people.
  if (argc > 1 && std::strcmp(argv[1], "worker") == 0) return gt::proxy::worker_command(argc - 1, argv + 1);
  if (argc > 1 && std::strcmp(argv[1], "probe") == 0) return gt::proxy::probe_command(argc - 1, argv + 1);
  static constexpr gt::Command Commands[] = {
      {"serve", gt::proxy::serve_command, "let programs on this and other machines use the OpenCL devices here"},
      {"status", gt::proxy::status_command, "tell who uses them now"},
  };
  return gt::run_program({gt::proxy::Program, "gproxy serves a node's OpenCL devices.", "", Commands}, argc, argv);
}
