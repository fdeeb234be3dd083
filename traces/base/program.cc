#include "traces/base/program.h"

#include <cstdio>
#include <cstring>
#include <exception>

#include "traces/base/command.h"

namespace gt {

namespace {

void print_help(const Program& program, std::FILE* out) {
  std::fprintf(out, "%s\n\nUsage: %s COMMAND ...\n\n", program.what, program.name);
  for (const Command& c : program.commands) std::fprintf(out, "  %-10s %s\n", c.name, c.help);
  std::fprintf(out, "\n`%s COMMAND --help` tells more.%s%s\n", program.name, program.notes[0] ? " " : "",
               program.notes);
}

int dispatch(const Program& program, int argc, char** argv) {
  if (argc < 2) {
    print_help(program, stderr);
    return ExitUsage;
  }
  const char* name = argv[1];
  for (const Command& c : program.commands) {
    if (std::strcmp(name, c.name) == 0) return c.run(argc - 1, argv + 1);
  }
  if (std::strcmp(name, "--help") == 0 || std::strcmp(name, "-h") == 0 || std::strcmp(name, "help") == 0) {
    print_help(program, stdout);
    return ExitOk;
  }
  if (std::strcmp(name, "--version") == 0) {
    std::printf("%s %s\n", program.name, GT_VERSION);
    return ExitOk;
  }
  std::fprintf(stderr, "%s: no command '%s' (see %s --help)\n", program.name, name, program.name);
  return ExitUsage;
}

}  // namespace

int run_program(const Program& program, int argc, char** argv) {
  try {
    return dispatch(program, argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: internal error: %s\n", program.name, e.what());
    return ExitInternal;
  }
}

}  // namespace gt
