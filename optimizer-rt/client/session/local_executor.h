// An executor in this process: over a driver that is opened by its path (for tests, and for nodes without a proxy), or
// over a device whose handle the program has.
// Thread safety: any thread, after start(). native(), adopt() and finish() wait while a message is taken in.
#pragma once

#include <memory>
#include <string>

#include "traces/base/mutex.h"
#include "traces/base/status.h"
#include "transport/executor/base/cl.h"
#include "transport/executor/executor.h"
#include "transport/link/base/link.h"

namespace gt::virt {

// What lives behind the link. Destruction would need the link closed: it lives as long as the process.
class LocalExecutor {
 public:
  // `driver`: for who goes past the executor. `served`: what the executor calls.
  LocalExecutor(const exec::Functions& driver, const exec::Functions& served, std::unique_ptr<wire::Link> link,
                exec::Options options);
  Status start() { return executor_->start(); }

  // --- Past the messages: waiting, and contents that move inside this process (docs/decisions/0030 says why). The
  // functions are the driver's own. native(): nullptr when the message that makes it is still on its way.
  const exec::Cl& cl() const { return cl_; }
  template <class Handle>
  Handle native(api::ObjectKind kind, wire::ObjectId name) const {
    return static_cast<Handle>(executor_->native(kind, name));
  }
  // A buffer that was made past the executor gets a name: Executor::adopt().
  bool adopt(cl_mem buffer, wire::ObjectId name) const { return executor_->adopt(buffer, name); }
  // Executor::driver_lock()
  Mutex* driver_lock(cl_device_id device) const { return executor_->driver_lock(device); }
  // What the message Finish asks for, by clFinish in the calling thread, as the executor calls it. REQUIRES: what has
  // been sent before is taken in, and nothing is watched for the caller (Idle::Sleeps).
  cl_int finish(wire::ObjectId queue) const;

 private:
  const exec::Functions driver_, served_;
  const exec::Cl cl_, served_cl_;
  const std::unique_ptr<wire::Link> link_;
  const std::unique_ptr<exec::Executor> executor_;
};

// One that has started, and our end of the link to it.
struct OpenedExecutor {
  std::unique_ptr<wire::Link> link;
  std::shared_ptr<LocalExecutor> executor;
};
// `path`: of an ICD (libpocl.so.2), not of a loader, which would come back to us.
Result<OpenedExecutor> open_driver(const std::string& path);
// The driver's own functions serve it, never the loader's; under goptimize the optimizer's, which lead there, so that
// transfers are staged and their memory pinned as in local contexts.
Result<OpenedExecutor> open_device(cl_device_id native);
cl_platform_id platform_of(cl_device_id native);

}  // namespace gt::virt
