#include "optimizer-rt/client/objects/landings.h"

#include <algorithm>

namespace gt::virt {

void Landings::before(bool everything, std::vector<Ref<_cl_event>>& after) {
  if (!any_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(mutex_);
  if (in_order_ || everything)
    after.insert(after.end(), late_.begin(), late_.end());
  else if (barrier_)
    after.push_back(barrier_);
}

void Landings::add(const Ref<_cl_event>& event, bool barrier) {
  std::vector<Ref<_cl_event>> before;  // let go without the lock
  Ref<_cl_event> last_barrier;
  const std::lock_guard lock(mutex_);
  if (event->ended()) return;  // its remove() has been
  if (in_order_) before.swap(late_);
  late_.push_back(event);
  if (barrier) std::swap(last_barrier, barrier_), barrier_ = event;
  any_ = true;
}

void Landings::remove(const _cl_event& event) {
  const auto same = [&event](const Ref<_cl_event>& e) { return e.get() == &event; };
  const std::lock_guard lock(mutex_);
  std::erase_if(late_, same);  // who calls holds it
  if (same(barrier_)) barrier_ = {};
  any_ = !late_.empty();
}

void Landings::wait() {
  std::vector<Ref<_cl_event>> late;
  before(true, late);
  for (const Ref<_cl_event>& event : late) event->wait();
}

}  // namespace gt::virt
