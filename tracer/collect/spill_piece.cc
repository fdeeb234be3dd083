#include "tracer/collect/spill_piece.h"

#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "tracer/collect/packed_words.h"

namespace gt::tracer {

enum class EntryKind : uint8_t {
  Owner,   // payload: the first RingOwner::ThreadBytes of the ring's header
  Record,  // a record's payload
  Calls,   // first call and calls of the Repeat that follows, 8 bytes each
  Words,   // a run of block words: so many bytes of them
  Ended,   // the ring's header
  Counts,  // before an Ended: the ring's CallCounts
};

// Every entry begins with this; a payload follows, padded to 8 bytes.
struct EntryHead {
  EntryKind kind;
  uint8_t type = 0;
  uint16_t fn = 0;
  uint32_t ring = 0;
  uint64_t ticks = 0;
  uint32_t record_bytes = 0;  // as the record's header says; of Words: of them
  uint32_t payload_bytes = 0;
};
static_assert(sizeof(EntryHead) == 24);

namespace {

constexpr uint64_t MostRings = 1 << 20, MostEntryBytes = uint64_t{1} << 30, MostWords = 1 << 24;
constexpr int EntryLevel = -50;  // of zstd: as fast as it gets

ZSTD_CCtx* context() {
  struct Free {
    void operator()(ZSTD_CCtx* c) const { ZSTD_freeCCtx(c); }
  };
  static thread_local const std::unique_ptr<ZSTD_CCtx, Free> one(ZSTD_createCCtx());
  return one.get();
}

bool unpack_entries(ByteView packed, size_t size, Bytes& raw) {
  if (ZSTD_getFrameContentSize(packed.data(), packed.size()) != size) return false;  // before there is room for it
  raw.resize(size);
  return ZSTD_decompress(raw.data(), size, packed.data(), packed.size()) == size;
}

}  // namespace

// Whose the ring is, the first time in a piece.
void PieceWriter::owner(uint32_t ring, const RingHeader& header) {
  if (ring >= told_.size()) told_.resize(ring + 1);
  if (told_[ring]) return;
  told_[ring] = true;
  put({.kind = EntryKind::Owner, .ring = ring}, bytes_of(header, RingOwner::ThreadBytes));
}

void PieceWriter::put(EntryHead head, ByteView payload) {
  constexpr uint8_t Zeros[8] = {};
  head.payload_bytes = static_cast<uint32_t>(payload.size());
  entries_.raw(&head, sizeof head);
  entries_.raw(payload.data(), payload.size());
  entries_.raw(Zeros, -payload.size() & 7);
}

void PieceWriter::add(const RecordView& record) {
  owner(record.ring, *record.owner);
  const RecordHeader& header = record.header;
  raw_bytes_ += header.bytes;
  EntryHead head{.kind = EntryKind::Record, .type = static_cast<uint8_t>(header.type), .fn = header.fn,
                 .ring = record.ring, .ticks = header.ticks, .record_bytes = header.bytes};
  if (header.type == RecordType::Blocks) {
    const size_t before = words_.size(), count = record.payload.size() / sizeof(uint64_t);
    words_.resize(before + count);
    std::memcpy(words_.data() + before, record.payload.data(), count * sizeof(uint64_t));
    head.kind = EntryKind::Words;
    return put(head, {});
  }
  if (header.type == RecordType::Repeat) {
    const uint64_t calls[] = {record.first_call, record.calls};
    put({.kind = EntryKind::Calls, .ring = record.ring}, {reinterpret_cast<const uint8_t*>(calls), sizeof calls});
  }
  put(head, record.payload);
}

void PieceWriter::ring_ended(uint32_t ring, const RingHeader& header, const CallCounts* counts) {
  if (counts)
    put({.kind = EntryKind::Counts, .ring = ring}, {reinterpret_cast<const uint8_t*>(counts), sizeof *counts});
  put({.kind = EntryKind::Ended, .ring = ring}, bytes_of(header));
  if (ring < told_.size()) told_[ring] = false;
}

void PieceWriter::take(std::span<const RingReader::Place> places, uint64_t records, Bytes& piece) {
  PieceHead head{.magic = PieceMagic, .raw_bytes = raw_bytes_, .records = records, .places = places.size(),
                 .entry_bytes = entries_.size(), .words = words_.size()};
  head.packed_entry_bytes = pack_entries();
  piece.clear();
  const auto put = [&](const void* data, size_t bytes) {
    const auto* const from = static_cast<const uint8_t*>(data);
    piece.insert(piece.end(), from, from + bytes);
  };
  put(&head, sizeof head);
  put(places.data(), places.size_bytes());
  put(frame_.data(), head.packed_entry_bytes);
  const size_t before = piece.size();
  pack_words(words_, piece);
  head.packed_word_bytes = piece.size() - before;
  head.bytes = piece.size();
  std::memcpy(piece.data(), &head, sizeof head);
  entries_.clear();
  words_.clear();
  told_.clear();
  raw_bytes_ = 0;
}

// Into frame_; gives the number of bytes.
size_t PieceWriter::pack_entries() {
  const ByteView raw = entries_.view();
  frame_.resize(std::max(frame_.size(), ZSTD_compressBound(raw.size())));
  const size_t size = ZSTD_compressCCtx(context(), frame_.data(), frame_.size(), raw.data(), raw.size(), EntryLevel);
  return ZSTD_isError(size) ? 0 : size;
}

Status PieceReader::open(ByteView piece) {
  const auto damaged = [] { return Status(Kind::Corrupt, "a piece of what waited is damaged"); };
  ByteReader in(piece);
  if (const ByteView head = in.raw(sizeof head_); in.ok()) std::memcpy(&head_, head.data(), sizeof head_);
  const bool sane = in.ok() && head_.magic == PieceMagic && head_.bytes == piece.size() && head_.places <= MostRings &&
                    head_.entry_bytes <= MostEntryBytes && head_.words <= MostWords;
  if (!sane) return damaged();
  const ByteView places = in.raw(head_.places * sizeof(RingReader::Place));
  const ByteView entries = in.raw(head_.packed_entry_bytes), words = in.raw(head_.packed_word_bytes);
  const bool whole = in.ok() && unpack_entries(entries, head_.entry_bytes, entries_) &&
                     unpack_words(words, head_.words, words_);
  if (!whole) return damaged();
  places_.resize(head_.places);
  if (!places_.empty()) std::memcpy(places_.data(), places.data(), places.size());
  next_word_ = 0;
  owners_.clear();
  counts_ = nullptr;
  first_call_ = calls_ = 0;
  return {};
}

bool PieceReader::give(const PieceVisitor& visitor) {
  ByteReader in(entries_);
  while (!in.at_end()) {
    EntryHead head;
    const ByteView bytes = in.raw(sizeof head);
    if (!in.ok()) return false;
    std::memcpy(&head, bytes.data(), sizeof head);
    const ByteView payload = in.raw(head.payload_bytes);
    in.raw(-payload.size() & 7);
    if (!in.ok() || head.ring >= MostRings || !give_entry(head, payload, visitor)) return false;
  }
  return true;
}

bool PieceReader::give_entry(const EntryHead& head, ByteView payload, const PieceVisitor& visitor) {
  if (head.ring >= owners_.size()) owners_.resize(head.ring + 1);
  std::unique_ptr<RingOwner>& owner = owners_[head.ring];
  const RecordHeader header{head.record_bytes, static_cast<RecordType>(head.type), head.fn, head.ticks};
  switch (head.kind) {
    case EntryKind::Owner:
      owner = std::make_unique<RingOwner>(payload);
      return true;
    case EntryKind::Record:
      if (!owner) return false;
      visitor.record({header, payload, head.ring, &owner->header(), first_call_, calls_});
      first_call_ = calls_ = 0;
      return true;
    case EntryKind::Calls: {
      ByteReader in(payload);
      first_call_ = in.fixed64();
      calls_ = in.fixed64();
      return in.ok();
    }
    case EntryKind::Words: {
      const size_t count = head.record_bytes / sizeof(uint64_t);
      if (!owner || count > words_.size() - next_word_) return false;
      const auto* const words = reinterpret_cast<const uint8_t*>(words_.data() + next_word_);
      next_word_ += count;
      visitor.record({header, ByteView(words, count * sizeof(uint64_t)), head.ring, &owner->header()});
      return true;
    }
    case EntryKind::Counts:
      if (payload.size() != sizeof(CallCounts)) return false;
      counts_ = std::make_unique<CallCounts>();
      std::memcpy(static_cast<void*>(counts_.get()), payload.data(), payload.size());
      return true;
    case EntryKind::Ended:
      visitor.ring_ended(head.ring, RingOwner(payload).header(), counts_.get());
      counts_ = nullptr;
      owner = nullptr;
      return true;
  }
  return false;
}

}  // namespace gt::tracer
