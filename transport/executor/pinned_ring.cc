#include "transport/executor/pinned_ring.h"

#include <algorithm>
#include <utility>

namespace gt::exec {
namespace {

constexpr size_t Line = 64;  // bytes; no two transfers share one

}  // namespace

bool PinnedRing::open(cl_context context) { return x_memory.open(x_session->cl, x_crew, context, Size); }

uint8_t* PinnedRing::take(size_t bytes) {
  const size_t room = (std::max(bytes, size_t{1}) + Line - 1) / Line * Line;
  const std::lock_guard lock(x_mutex);
  size_t begin = x_pieces.empty() ? 0 : x_pieces.back().end;
  const size_t oldest = x_pieces.empty() ? Size : x_pieces.front().begin;
  if (begin > oldest && Size - begin < room) begin = 0;
  if ((begin > oldest ? Size : oldest) - begin < room) return nullptr;
  x_pieces.push_back({begin, begin + room});
  return reinterpret_cast<uint8_t*>(x_memory.data()) + begin;
}

void PinnedRing::give_back(const uint8_t* begin) {
  const auto offset = static_cast<size_t>(begin - reinterpret_cast<uint8_t*>(x_memory.data()));
  const std::lock_guard lock(x_mutex);
  const auto piece = std::find_if(x_pieces.begin(), x_pieces.end(), [&](const Piece& p) { return p.begin == offset; });
  piece->taken = false;
  while (!x_pieces.empty() && !x_pieces.front().taken) x_pieces.pop_front();
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
