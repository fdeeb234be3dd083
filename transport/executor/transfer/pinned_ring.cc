#include "transport/executor/transfer/pinned_ring.h"

#include <utility>


namespace gt::exec {

bool PinnedRing::open(cl_context context) {
  const size_t bytes = x_session->options.small_bytes;
  return bytes != 0 && x_memory.open(x_session->cl, x_copy_threads, context, bytes);
}

uint8_t* PinnedRing::take(size_t bytes) {
  const std::lock_guard lock(x_mutex);
  const auto offset = x_rooms.take(bytes);
  return offset ? reinterpret_cast<uint8_t*>(x_memory.data()) + *offset : nullptr;
}

void PinnedRing::give_back(const uint8_t* begin) {
  const std::lock_guard lock(x_mutex);
  x_rooms.give_back(static_cast<size_t>(begin - reinterpret_cast<uint8_t*>(x_memory.data())));
}

SmallBytes::SmallBytes(std::shared_ptr<PinnedRing> ring, size_t size)
    : x_ring(std::move(ring)), x_data(x_ring ? x_ring->take(size) : nullptr), x_size(size) {
  if (x_data) return;
  x_ring.reset();
  x_data = new uint8_t[size];
}

SmallBytes::SmallBytes(SmallBytes&& other) noexcept
    : x_ring(std::move(other.x_ring)), x_data(std::exchange(other.x_data, nullptr)), x_size(other.x_size) {}

SmallBytes& SmallBytes::operator=(SmallBytes&& other) noexcept {
  std::swap(x_ring, other.x_ring);
  std::swap(x_data, other.x_data);
  std::swap(x_size, other.x_size);
  return *this;
}

SmallBytes::~SmallBytes() {
  if (x_ring && x_data)
    x_ring->give_back(x_data);
  else
    delete[] x_data;
}

void SmallBytes::abandon() {
  if (x_ring) static_cast<void>(new std::shared_ptr<PinnedRing>(std::move(x_ring)));
  x_data = nullptr;
}

}  // namespace gt::exec
