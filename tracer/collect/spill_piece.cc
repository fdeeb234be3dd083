#include "tracer/collect/spill_piece.h"

#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "tracer/collect/packed_words.h"

namespace gt::tracer {

namespace {

constexpr uint64_t PieceMagic = 0x3145434549505447;  // "GTPIECE1"
constexpr uint64_t MostRings = 1 << 20, MostEntryBytes = uint64_t{1} << 30, MostWords = 1 << 24;
constexpr int EntryLevel = -50;  // of zstd: as fast as it gets

enum class EntryKind : uint8_t {
  Owner,   // the first RingOwner::ThreadBytes of the ring's header
  Record,  // type, fn, ticks, bytes, first call, calls, payload
  Words,   // ticks, number
  Ended,   // the ring's header, counts (of 0 bytes: none)
};

ZSTD_CCtx* context() {
  struct Free {
    void operator()(ZSTD_CCtx* c) const { ZSTD_freeCCtx(c); }
  };
  static thread_local const std::unique_ptr<ZSTD_CCtx, Free> one(ZSTD_createCCtx());
  return one.get();
}

bool unpack_entries(ByteView packed, size_t size, Bytes& raw) {
  raw.resize(size);
  return ZSTD_decompress(raw.data(), size, packed.data(), packed.size()) == size;
}

}  // namespace

void PieceWriter::put(ByteView payload) {
  constexpr uint8_t Zeros[8] = {};
  entries_.varint(payload.size());
  entries_.raw(Zeros, -entries_.size() & 7);
  entries_.raw(payload.data(), payload.size());
}

void PieceWriter::owner(uint32_t ring, const RingHeader& header) {
  if (ring >= told_.size()) told_.resize(ring + 1);
  if (told_[ring]) return;
  told_[ring] = true;
  entries_.u8(static_cast<uint8_t>(EntryKind::Owner));
  entries_.varint(ring);
  put(bytes_of(header, RingOwner::ThreadBytes));
}

void PieceWriter::add(const RecordView& record) {
  owner(record.ring, *record.owner);
  const RecordHeader& header = record.header;
  raw_bytes_ += header.bytes;
  if (header.type == RecordType::Blocks) {
    const size_t before = words_.size(), count = record.payload.size() / sizeof(uint64_t);
    words_.resize(before + count);
    std::memcpy(words_.data() + before, record.payload.data(), count * sizeof(uint64_t));
    entries_.u8(static_cast<uint8_t>(EntryKind::Words));
    entries_.varint(record.ring);
    entries_.fixed64(header.ticks);
    return entries_.varint(count);
  }
  entries_.u8(static_cast<uint8_t>(EntryKind::Record));
  entries_.varint(record.ring);
  entries_.varint(static_cast<uint16_t>(header.type));
  entries_.varint(header.fn);
  entries_.fixed64(header.ticks);
  entries_.varint(header.bytes);
  entries_.varint(record.first_call);
  entries_.varint(record.calls);
  put(record.payload);
}

void PieceWriter::ring_ended(uint32_t ring, const RingHeader& header, const CallCounts* counts) {
  entries_.u8(static_cast<uint8_t>(EntryKind::Ended));
  entries_.varint(ring);
  put(bytes_of(header));
  put(counts ? ByteView(reinterpret_cast<const uint8_t*>(counts), sizeof *counts) : ByteView());
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
  return {};
}

bool PieceReader::give(const PieceVisitor& visitor) {
  ByteReader in(entries_);
  while (!in.at_end()) {
    if (!give_entry(in, visitor)) return false;
  }
  return true;
}

namespace {

ByteView payload_in(ByteReader& in, size_t whole) {
  const uint64_t size = in.varint();
  in.raw(-(whole - in.remaining()) & 7);
  return in.raw(size);
}

}  // namespace

bool PieceReader::give_entry(ByteReader& in, const PieceVisitor& visitor) {
  const auto kind = static_cast<EntryKind>(in.u8());
  const uint64_t ring = in.varint();
  if (!in.ok() || ring >= MostRings) return false;
  const auto index = static_cast<uint32_t>(ring);
  if (ring >= owners_.size()) owners_.resize(ring + 1);
  switch (kind) {
    case EntryKind::Owner: {
      const ByteView header = payload_in(in, entries_.size());
      owners_[ring] = std::make_unique<RingOwner>(header);
      return in.ok();
    }
    case EntryKind::Record:
      return give_record(in, index, visitor);
    case EntryKind::Words:
      return give_words(in, index, visitor);
    case EntryKind::Ended:
      return give_end(in, index, visitor);
  }
  return false;
}

bool PieceReader::give_record(ByteReader& in, uint32_t ring, const PieceVisitor& visitor) {
  RecordHeader header{};
  header.type = static_cast<RecordType>(in.varint());
  header.fn = static_cast<uint16_t>(in.varint());
  header.ticks = in.fixed64();
  header.bytes = static_cast<uint32_t>(in.varint());
  const uint64_t first_call = in.varint(), calls = in.varint();
  const ByteView payload = payload_in(in, entries_.size());
  if (!in.ok() || !owners_[ring]) return false;
  visitor.record({header, payload, ring, &owners_[ring]->header(), first_call, calls});
  return true;
}

bool PieceReader::give_words(ByteReader& in, uint32_t ring, const PieceVisitor& visitor) {
  const uint64_t ticks = in.fixed64(), count = in.varint();
  if (!in.ok() || !owners_[ring] || count > words_.size() - next_word_) return false;
  const size_t bytes = count * sizeof(uint64_t);
  const ByteView payload(reinterpret_cast<const uint8_t*>(words_.data() + next_word_), bytes);
  next_word_ += count;
  visitor.record({{static_cast<uint32_t>(bytes), RecordType::Blocks, 0, ticks}, payload, ring,
                  &owners_[ring]->header()});
  return true;
}

bool PieceReader::give_end(ByteReader& in, uint32_t ring, const PieceVisitor& visitor) {
  const RingOwner owner(payload_in(in, entries_.size()));
  const ByteView counts = payload_in(in, entries_.size());
  if (!in.ok() || (!counts.empty() && counts.size() != sizeof(CallCounts))) return false;
  std::unique_ptr<CallCounts> counted;
  if (!counts.empty()) {
    counted = std::make_unique<CallCounts>();
    std::memcpy(static_cast<void*>(counted.get()), counts.data(), counts.size());
  }
  visitor.ring_ended(ring, owner.header(), counted.get());
  owners_[ring] = nullptr;
  return true;
}

}  // namespace gt::tracer
