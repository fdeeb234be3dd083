#include "transport/executor/transfer/pinned_ring.h"

#include <utility>

namespace gt::exec {

bool PinnedRing::open(cl_context context) {
  const size_t bytes = session_->options.small_bytes;
  return bytes != 0 && memory_.open(session_->cl, copy_threads_, context, bytes);
}

uint8_t* PinnedRing::take(size_t bytes) {
  const MutexLock lock(mutex_);
  const auto offset = rooms_.take(bytes);
  return offset ? reinterpret_cast<uint8_t*>(memory_.data()) + *offset : nullptr;
}

void PinnedRing::give_back(const uint8_t* begin) {
  const MutexLock lock(mutex_);
  rooms_.give_back(static_cast<size_t>(begin - reinterpret_cast<uint8_t*>(memory_.data())));
}

SmallBytes::SmallBytes(std::shared_ptr<PinnedRing> ring, size_t size)
    : ring_(std::move(ring)), data_(ring_ ? ring_->take(size) : nullptr), size_(size) {
  if (data_) return;
  ring_.reset();
  data_ = new uint8_t[size];
}

SmallBytes::SmallBytes(SmallBytes&& other) noexcept
    : ring_(std::move(other.ring_)), data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}

SmallBytes& SmallBytes::operator=(SmallBytes&& other) noexcept {
  std::swap(ring_, other.ring_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

SmallBytes::~SmallBytes() {
  if (ring_ && data_)
    ring_->give_back(data_);
  else
    delete[] data_;
}

void SmallBytes::abandon() {
  if (ring_) static_cast<void>(new std::shared_ptr<PinnedRing>(std::move(ring_)));
  data_ = nullptr;
}

}  // namespace gt::exec
