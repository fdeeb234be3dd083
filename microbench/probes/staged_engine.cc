// The stager, driven by one thread with blocking transfers.
#include "microbench/probes/staged_engine.h"

#include <algorithm>

#include "traces/base/processors.h"

namespace gt::bench {
namespace {

ClFunctions loaders_functions() {
  struct Loaders : ClFunctions {  // which names the uses
    Loaders() {
#define GT_CL_FUNCTION(use, function) \
  if constexpr (((use) & Staging) != 0) this->function = &::function;
#include "transport/opencl/functions.def"
    }
  };
  return Loaders();
}

}  // namespace

Result<std::unique_ptr<StagedEngine>> StagedEngine::open(const Session& session) {
  std::unique_ptr<StagedEngine> engine(new StagedEngine(session));
  engine->cl_ = loaders_functions();
  engine->cl_.clEnqueueSVMMemcpy = session.svm().copy;
  engine->stager_.open(engine->cl_, session.context(), session.device().id, engine->copy_threads_, nullptr, nullptr);
  return engine;
}

StagedEngine::~StagedEngine() { stager_.close(); }

void StagedEngine::use_threads(unsigned count) {
  copy_threads_.stop();
  copy_threads_.start(count - 1);
}

unsigned StagedEngine::most_threads() {
  return std::min(usable_processors(), staging::CopyThreads::MaxHelpers + 1);
}

Status StagedEngine::transfer(const staging::HostTransfer& move) {
  staging::Request request;
  request.queue = {session_.queue(), session_.context()};
  request.transfer = move;
  cl_int err = CL_SUCCESS;
  if (!stager_.transfer(request, &err)) return Status(Kind::Unsupported, "the transfer was not staged");
  return cl_status("a staged transfer", err);
}

}  // namespace gt::bench
