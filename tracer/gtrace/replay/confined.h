// What the process of a replay may do with files: what gproxy's workers may, for a trace may be a stranger's.
// Thread safety: none; called before there are threads.
#pragma once

#include <string>
#include <vector>

#include "traces/base/status.h"
#include "traces/sandbox/own_folder.h"
#include "traces/sandbox/sandbox.h"

namespace gt::tracer {

class Confinement {
 public:
  // Before the process is made. `writes`: folders besides those of drivers. Unsupported: this kernel cannot do it.
  static Result<Confinement> prepare(const std::string& trace_path, const std::vector<std::string>& writes);
  // In the process itself. REQUIRES: it has one thread.
  Status enter() const;

 private:
  OwnFolder temporary_;  // goes when the replay is over
  Sandbox sandbox_;
};

}  // namespace gt::tracer
