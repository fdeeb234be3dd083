// What all our programs share at the edge to the user: exit statuses, and one way to end with an error.
#pragma once

#include <cerrno>
#include <cstdio>
#include <string>

#include "traces/base/status.h"

namespace gt {

// design contract: a launched program's own status is passed on; these are ours.
enum Exit : int { ExitOk = 0, ExitUsage = 2, ExitInput = 3, ExitEnvironment = 4, ExitInternal = 5 };

inline int exit_status(const Status& s) {
  switch (s.kind()) {
    case Kind::Ok: return ExitOk;
    case Kind::Invalid: return ExitUsage;
    case Kind::Corrupt: return ExitInput;
    default: return ExitEnvironment;
  }
}

// Prints "program: text" on stderr, one line, and returns the exit status that belongs to it.
inline int fail(const char* program, const Status& s) {
  std::fprintf(stderr, "%s: %s\n", program, s.text().c_str());
  return exit_status(s);
}

// To standard output, all of it.
inline Status print_text(const std::string& text) {
  const bool all = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return all ? Status() : system_error("cannot write to standard output", errno);
}

}  // namespace gt
