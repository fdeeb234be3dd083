// Bytes that a queue's reads bring over a link: the device is done with a read, and goes on, before they are here. Who
// is told that a command has ended must find the bytes of those before it: so the completion of the command's event is
// deferred until those before it have completed here (_cl_event::completes_after).
// Invariant: holds no event that has ended, which would hold its queue.
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <vector>

#include "optimizer-rt/client/objects/event.h"
#include "optimizer-rt/client/objects/queue.h"
#include "traces/base/mutex.h"

namespace gt::virt {

class DeferredCompletions final : public DeferredCommands {
 public:
  explicit DeferredCompletions(bool in_order) : in_order_(in_order) {}

  void before(bool everything, std::vector<Ref<_cl_event>>& after) override;
  void add(const Ref<_cl_event>& event, bool barrier) override;
  void remove(const _cl_event& event) override;
  void wait() override;

 private:
  const bool in_order_;
  std::atomic<bool> any_{false};
  Mutex mutex_;
  // Of an in-order queue: the last one, which comes after the others.
  std::vector<Ref<_cl_event>> deferred_ GT_GUARDED_BY(mutex_);
  Ref<_cl_event> barrier_ GT_GUARDED_BY(mutex_);
};

}  // namespace gt::virt
