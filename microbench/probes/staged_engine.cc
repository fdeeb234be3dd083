// The stager, driven by one thread with blocking transfers.
#include "microbench/probes/staged_engine.h"

#include <algorithm>

#include "transport/staging/processors.h"

namespace gt::bench {

Result<std::unique_ptr<StagedEngine>> StagedEngine::open(const Session& session) {
  std::unique_ptr<StagedEngine> engine(new StagedEngine(session));
#define GT_X(f) engine->x_cl.f = &::f;
  GT_STAGING_FUNCTIONS(GT_X)
#undef GT_X
  engine->x_cl.clEnqueueSVMMemcpy = session.svm().copy;
  engine->x_stager.open(engine->x_cl, session.context(), session.device().id, engine->x_copy_threads, nullptr, nullptr);
  return engine;
}

StagedEngine::~StagedEngine() { x_stager.close(); }

void StagedEngine::use_threads(unsigned count) {
  x_copy_threads.stop();
  x_copy_threads.start(count - 1);
}

unsigned StagedEngine::most_threads() {
  return std::min(staging::usable_processors(), staging::CopyThreads::MaxHelpers + 1);
}

Status StagedEngine::transfer(const staging::HostTransfer& move) {
  staging::Request request;
  request.queue = {x_session.queue(), x_session.context()};
  request.transfer = move;
  cl_int err = CL_SUCCESS;
  if (!x_stager.transfer(request, &err)) return Status(Kind::Unsupported, "the transfer was not staged");
  return cl_status("a staged transfer", err);
}

}  // namespace gt::bench
