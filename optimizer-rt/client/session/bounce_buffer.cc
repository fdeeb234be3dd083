#include "optimizer-rt/client/session/bounce_buffer.h"

namespace gt::virt {

BounceBuffer::Room BounceBuffer::take(size_t bytes) {
  if (!base_ || bytes > Largest) return {};
  const MutexLock lock(mutex_);
  const std::optional<size_t> offset = rooms_->take(bytes);
  if (!offset) return {};
  const auto give_back = [this, at = *offset](uint8_t*) {
    const MutexLock taken(mutex_);
    rooms_->give_back(at);
  };
  return {std::shared_ptr<uint8_t[]>(base_ + *offset, give_back), *offset};
}

}  // namespace gt::virt
