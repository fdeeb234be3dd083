// Staged transfers as the probe sees them: bytes from any host memory to a buffer, or back, by transport/staging.
// Thread safety: none.
#pragma once

#include <cstdint>
#include <memory>

#include "microbench/base/cl_session.h"
#include "transport/staging/stager.h"

namespace gt::bench {

class StagedEngine {
 public:
  // The session must outlive it. Unsupported when the loader lacks what staging needs.
  static Result<std::unique_ptr<StagedEngine>> open(const Session& session);
  ~StagedEngine();

  // How many threads copy, the caller among them; fewer where the system refuses.
  void use_threads(unsigned count);
  unsigned threads() const { return copy_threads_.helpers() + 1; }
  static unsigned most_threads();

  // Complete when this returns. Unsupported: not staged at this size.
  Status transfer(const staging::HostTransfer& move);

 private:
  explicit StagedEngine(const Session& session) : session_(session) {}

  const Session& session_;
  ClFunctions cl_;
  staging::CopyThreads copy_threads_;
  staging::Stager stager_;
};

}  // namespace gt::bench
