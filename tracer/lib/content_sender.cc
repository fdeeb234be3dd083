#include "tracer/lib/content_sender.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "traces/api/host_rows.h"

namespace gt::tracer {

namespace {

// Sets of four, by hash. 0: free.
class SentTable {
 public:
  bool has(uint64_t key) const {
    for (const std::atomic<uint64_t>& sent : set_of(key)) {
      if (sent.load(std::memory_order_acquire) == key) return true;
    }
    return false;
  }
  void add(uint64_t key) {
    const uint32_t turn = turn_.fetch_add(1, std::memory_order_relaxed);
    set_of(key)[turn % Ways].store(key, std::memory_order_release);
  }

 private:
  static constexpr size_t Sets = 4096, Ways = 4;
  using Set = std::atomic<uint64_t>[Ways];
  const Set& set_of(uint64_t key) const { return sets_[key % Sets]; }
  Set& set_of(uint64_t key) { return sets_[key % Sets]; }

  Set sets_[Sets];
  std::atomic<uint32_t> turn_{0};
};
SentTable g_sent;

uint64_t key_of(const Content& content, int32_t process) {
  const uint64_t words[] = {content.hash, content.bytes, static_cast<uint64_t>(process)};
  return XXH3_64bits(words, sizeof words) | 1;
}

// Rows, cut into pieces of the same size, however they lie.
class Pieces {
 public:
  Pieces(Ring& ring, uint64_t bytes) : ring_(ring), left_(bytes) { XXH3_64bits_reset(&hash_); }

  // False: nobody takes records any more.
  bool add(const uint8_t* row, size_t size) {
    while (size > 0) {
      if (room_ == 0 && !begin()) return false;
      const size_t part = std::min(size, room_);
      std::memcpy(at_ + piece_ - room_, row, part);
      row += part;
      size -= part;
      room_ -= part;
      if (room_ == 0) end();
    }
    return true;
  }
  uint64_t hash() const { return XXH3_64bits_digest(&hash_); }

 private:
  bool begin() {
    piece_ = static_cast<size_t>(std::min<uint64_t>(left_, ContentPieceBytes));
    const size_t padded = (piece_ + 7) & ~size_t{7};
    record_ = static_cast<uint32_t>(sizeof(RecordHeader) + 8 + padded);
    uint8_t* const at = reserve(ring_, RecordType::ContentPiece, 0, record_, ticks());
    if (!at) return false;
    const uint64_t length = piece_;
    std::memcpy(at, &length, sizeof length);
    std::memset(at + padded, 0, 8);
    at_ = at + 8;
    room_ = piece_;
    return true;
  }
  void end() {
    XXH3_64bits_update(&hash_, at_, piece_);
    commit(ring_, record_);
    left_ -= piece_;
  }

  Ring& ring_;
  XXH3_state_t hash_;
  uint64_t left_;
  uint8_t* at_ = nullptr;
  size_t piece_ = 0, room_ = 0;
  uint32_t record_ = 0;
};

}  // namespace

Content send_content(const void* p, const api::HostBox& box, const Content& content) noexcept {
  Ring* const ring = this_ring();
  if (!ring || g_sent.has(key_of(content, ring->header->pid))) return content;
  Pieces pieces(*ring, content.bytes);
  const auto* begin = static_cast<const uint8_t*>(p);
  if (!each_row(begin, box, [&](const uint8_t* row, size_t size) { return pieces.add(row, size); })) return content;
  const Content sent{pieces.hash(), content.bytes};
  g_sent.add(key_of(sent, ring->header->pid));
  return sent;
}

}  // namespace gt::tracer
