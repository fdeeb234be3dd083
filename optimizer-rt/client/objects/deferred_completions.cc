#include "optimizer-rt/client/objects/deferred_completions.h"

#include <algorithm>

namespace gt::virt {

void DeferredCompletions::before(bool everything, std::vector<Ref<_cl_event>>& after) {
  if (!any_.load(std::memory_order_acquire)) return;
  const MutexLock lock(mutex_);
  if (in_order_ || everything)
    after.insert(after.end(), deferred_.begin(), deferred_.end());
  else if (barrier_)
    after.push_back(barrier_);
}

void DeferredCompletions::add(const Ref<_cl_event>& event, bool barrier) {
  std::vector<Ref<_cl_event>> before;  // let go without the lock
  Ref<_cl_event> last_barrier;
  const MutexLock lock(mutex_);
  if (event->ended()) return;  // its remove() has been
  if (in_order_) before.swap(deferred_);
  deferred_.push_back(event);
  if (barrier) std::swap(last_barrier, barrier_), barrier_ = event;
  any_ = true;
}

void DeferredCompletions::remove(const _cl_event& event) {
  const auto same = [&event](const Ref<_cl_event>& e) { return e.get() == &event; };
  const MutexLock lock(mutex_);
  std::erase_if(deferred_, same);  // who calls holds it
  if (same(barrier_)) barrier_ = {};
  any_ = !deferred_.empty();
}

void DeferredCompletions::wait() {
  std::vector<Ref<_cl_event>> deferred;
  before(true, deferred);
  for (const Ref<_cl_event>& event : deferred) event->wait();
}

}  // namespace gt::virt
