// One try of a reduction: a replay of some calls, in a process of its own, silent and for a bounded time.
// Thread safety: none.
#pragma once

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "tracer/gtrace/replay/against.h"
#include "tracer/gtrace/replay/call_graph.h"

namespace gt::tracer {

// What a replay showed.
struct Verdict {
  enum class Kind : uint8_t {
    Same,
    Differs,     // a result from the recorded one; or a launch's output on two devices
    Crashed,     // by a signal
    Failed,      // a call that the recording had succeed
    Unfinished,  // it took too long, or could not begin
  } kind = Kind::Unfinished;
  // Where it showed; number 0: nobody knows.
  model::ThreadId thread = 0;
  uint64_t number = 0;
  std::string what;  // the same in every replay that shows the same; for people, too
};
// Do both show the same, wherever?
inline bool same(const Verdict& a, const Verdict& b) { return a.kind == b.kind && a.what == b.what; }

struct TrialOptions {
  std::string device;
  bool against = false;
  AgainstOptions pair;  // and what a replay on one device needs, too: run, tolerance
};

class ReplayTrial {
 public:
  // `interrupted`: not 0 ends a try that is under way. All must outlive it.
  ReplayTrial(const OpenedTrace& opened, const TrialOptions& options, const volatile std::sig_atomic_t& interrupted)
      : opened_(opened), options_(options), interrupted_(interrupted) {}

  // `calls`: nothing: all of them; else those of `graph` that are made.
  Verdict run(const CallGraph* graph = nullptr, const CallSet* calls = nullptr);
  // How long the next ones may take.
  void allow(std::chrono::milliseconds longest) { longest_ = longest; }

 private:
  struct Shared;
  void child(Shared& shared, const CallGraph* graph, const CallSet* calls) const;
  int replay(Shared& shared, const RunOptions& run) const;
  void compare_pair(Shared& shared, const RunOptions& run) const;

  const OpenedTrace& opened_;
  const TrialOptions& options_;
  const volatile std::sig_atomic_t& interrupted_;
  std::chrono::milliseconds longest_{600'000};
};

}  // namespace gt::tracer
