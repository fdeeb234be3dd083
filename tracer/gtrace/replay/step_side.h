// One of two replays in step, as a process, and what it has said so far.
// Thread safety: none.
#pragma once

#include <sys/types.h>

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tracer/gtrace/base/open.h"
#include "tracer/gtrace/replay/apart.h"
#include "tracer/gtrace/replay/run.h"
#include "tracer/gtrace/replay/step_channel.h"

namespace gt::tracer {

struct AgainstOptions {
  std::array<std::string, 2> devices;  // as --device takes them
  RunOptions run;
  Tolerance tolerance;
  ApartOptions apart;
  std::function<void(uint64_t launches)> compared;  // is told how many are done; may be empty
};

// How one of the replays went.
struct StepSide {
  std::vector<std::string> devices;
  Outcome::Counts left_out, bridged;
};

class StepProcess {
 public:
  static Result<StepProcess> start(const OpenedTrace& opened, const AgainstOptions& options, size_t which);
  StepProcess(StepProcess&& other) noexcept;
  StepProcess& operator=(StepProcess&&) = delete;
  ~StepProcess();  // ends the process, if it has not ended

  int descriptor() const { return channel_.descriptor(); }
  // Waits for one message. What is Data is given back; the rest is kept below.
  std::optional<StepMessage> listen();
  bool tell(StepKind kind, const StepAnswer& answer) const { return channel_.send(kind, encode(answer)); }
  // The bytes of an output. False: the process is gone.
  bool fetch(const StepAnswer& wanted, Bytes& out);
  void stop();  // it makes no launch more, and says what came of those before
  int wait();   // for its end; its exit status

  std::map<LaunchName, LaunchReport> launches;  // reported, and waiting for an answer
  StepSide side;
  Status failure;
  bool contents = false, ended = false;  // ended: it says nothing any more
  bool complete = false;                 // and had made all of its calls

 private:
  StepProcess(pid_t watcher, StepChannel channel) : watcher_(watcher), channel_(std::move(channel)) {}

  pid_t watcher_;
  StepChannel channel_;
};

}  // namespace gt::tracer
