#include "transport/executor/transfer/pins.h"

#include <vector>

#include "transport/link/local_link.h"

namespace gt::exec {
namespace {

// How far a segment reaches: the link says only what it lets through.
size_t extent_of(wire::Link& link, wire::SegmentId segment) {
  constexpr size_t Largest = size_t{1} << 46;
  if (!link.view({segment, 0}, 1)) return 0;
  size_t fits = 1;
  while (fits < Largest && link.view({segment, 0}, fits * 2)) fits *= 2;
  for (size_t step = fits / 2; step > 0; step /= 2)
    if (link.view({segment, 0}, fits + step)) fits += step;
  return fits;
}

}  // namespace

void SharedPins::pin(wire::SegmentId segment, cl_context context) {
  if (!session_.options.pin_shared || segment == wire::WholeProcess) return;
  const Key key(segment, context);
  {
    const MutexLock lock(mutex_);
    if (pins_.size() >= Most || !pins_.emplace(key, nullptr).second) return;
  }
  std::unique_ptr<Pin> pin;
  if (const MessageSender::Use use(session_.out); use.open()) {
    const size_t bytes = extent_of(use.link(), segment);
    void* const base = bytes ? use.link().view({segment, 0}, bytes) : nullptr;
    if (base) pin = std::make_unique<Pin>(session_.cl, context, base, bytes);
  }
  const MutexLock lock(mutex_);
  const auto it = pins_.find(key);
  if (it != pins_.end()) it->second.swap(pin);  // else: withdrawn meanwhile, so it goes again
}

template <class Which>
void SharedPins::forget_if(Which which) {
  std::vector<std::unique_ptr<Pin>> gone;  // released without the lock
  const MutexLock lock(mutex_);
  for (auto it = pins_.begin(); it != pins_.end();) {
    if (!which(it->first)) {
      ++it;
      continue;
    }
    gone.push_back(std::move(it->second));
    it = pins_.erase(it);
  }
}

void SharedPins::forget(wire::SegmentId segment) {
  forget_if([segment](const Key& key) { return key.first == segment; });
}
void SharedPins::forget(cl_context context) {
  forget_if([context](const Key& key) { return key.second == context; });
}

}  // namespace gt::exec
