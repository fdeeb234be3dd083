// Starting the user's program with an injected library: what `gtrace run` and `goptimize run`
// share.
//
// plan_launch() finds the program, looks at what stands in the way, and composes its environment;
// Launched starts it and waits for it. The program keeps its terminal, its standard streams, its
// signal mask and dispositions; it gets no descriptor of ours (they are close-on-exec). Thread
// safety: none. Start the program before starting threads.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "traces/base/fd.h"
#include "traces/base/status.h"

namespace gt::interpose {

// The injected library of a kind ("trace", "opt"), looked for relative to the running executable:
// BIN/../lib/gtrace/KIND/libOpenCL.so.1 and the same below the multi-arch library directory.
Result<std::string> injected_library(const std::string& kind);

struct LaunchRequest {
  std::vector<std::string> command;  // the program as the user named it, and its arguments
  std::string library;               // absolute path of the injected library; "" preloads nothing
  std::vector<std::pair<std::string, std::string>>
      variables;  // set, or replaced, in its environment
  bool patched = false;  // what the program defines of OpenCL itself has been seen to (entry_plan.h): no obstacle
  bool layer = false;  // the library is an OpenCL layer too: loaders that the preload does not reach will load it
};

struct LaunchPlan {
  std::string program;  // path to execute
  std::string binary;   // the ELF file that will run (an interpreter when program is a script)
  std::vector<std::string> arguments;    // with argv[0] as the user gave it
  std::vector<std::string> environment;  // NAME=value
  std::string
      opencl_library;  // the real one, "" when there is none (the program may bring its own)
  std::vector<std::string> obstacles;  // one line each; with --strict the caller refuses to go on
  bool preloads = false;               // false: the program runs, but nothing is injected
  std::vector<int> own_signals;        // not passed on to the program: the caller handles them
};

// Invalid: no such program, not executable. Unsupported: the injected library's path cannot be
// given to LD_PRELOAD.
Result<LaunchPlan> plan_launch(const LaunchRequest& request);

// A running program. While one exists, SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1 and SIGUSR2 that
// were sent to us by a process are passed on to it; those that the terminal sends reach it by
// itself, and we outlive them. Invariant: at most one exists in a process.
class Launched {
 public:
  static Result<Launched> start(const LaunchPlan& plan);
  Launched(Launched&& other) noexcept;
  Launched& operator=(Launched&&) = delete;
  ~Launched();  // gives the signals back; a program that still runs goes on

  pid_t pid() const { return pid_; }
  // How often somebody wanted it to end: SIGINT, SIGQUIT, SIGTERM and SIGHUP, passed on or not. wait() returns early
  // then.
  static unsigned interrupts();
  // Waits until the program has ended, at most `timeout` (zero: just looks; negative: for ever).
  // True: it has ended.
  bool wait(std::chrono::milliseconds timeout);
  // REQUIRES: wait() gave true. The exit status, or 128 + the signal that ended it.
  int exit_status() const;
  int signal() const;  // that ended it, 0 when it exited
  const rusage& usage() const { return usage_; }  // its own, and that of the children that it waited for

 private:
  explicit Launched(pid_t pid);
  bool reap(int options);

  pid_t pid_ = -1;
  Fd handle_;  // pidfd, where the kernel has them
  int state_ = 0;
  rusage usage_{};
  bool ended_ = false;
};

}  // namespace gt::interpose
