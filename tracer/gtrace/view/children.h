// Running a program without a shell, and waiting for it. Thread safety: of the calling thread, whose signals are
// blocked.
#pragma once

#include <string>
#include <vector>

namespace gt::tracer::view {

struct Ended {
  int status = 0;    // as a shell gives it: 128 + the signal that ended it, 127 when it could not be started
  std::string said;  // on standard error; only when that was asked for
  bool interrupted() const { return status > 128; }
};

enum class Errors { Shown, Kept };

// `words[0]`: a path, or a name that is looked for in PATH. It reads nothing, and what it prints is dropped. No signal
// is blocked in it.
Ended run_quietly(std::vector<std::string> words, Errors errors);

// Is there such a program in PATH?
bool in_path(const std::string& name);

}  // namespace gt::tracer::view
