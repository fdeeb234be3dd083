// A program made of commands (`gtrace show`): help, version, dispatch, and the last resort for exceptions.
#pragma once

#include <span>

namespace gt {

struct Command {
  const char* name;
  int (*run)(int argc, char** argv);  // argv[0] is the command's name; gives the exit status
  const char* help;
};

struct Program {
  const char* name;
  const char* what;   // one sentence
  const char* notes;  // for the end of --help; "" for none
  std::span<const Command> commands;  // in the order of --help
};

// The exit status of the command that argv[1] names. --help and --version go to stdout; a missing or unknown command
// is a usage error; an exception that gets here is an internal one.
int run_program(const Program& program, int argc, char** argv);

}  // namespace gt
