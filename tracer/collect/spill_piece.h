// A piece of what waits for the collector: records in the order in which SpoolReader gave them, packed.
//
//   piece   := PieceHead  place of each ring that was used, behind the piece  packed entries  packed words
//   entry   := EntryHead  payload, padded to 8 bytes
// Block words, which are nearly all of it, lie by themselves (packed_words.h); an entry says how many come here.
// A piece can be read without those before it: of each ring that it has records of it says whose that was.
// Thread safety: none. Cost: docs/measurements/memory.md.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tracer/collect/forms_before.h"
#include "tracer/collect/ring_reader.h"
#include "tracer/lib/call_counts.h"
#include "traces/base/status.h"

namespace gt::tracer {

constexpr uint64_t PieceMagic = 0x3145434549505447;  // "GTPIECE1"

struct PieceHead {
  uint64_t magic = 0;
  uint64_t bytes = 0;    // of the piece
  uint64_t raw_bytes = 0, records = 0;  // that it stands for
  uint64_t places = 0;
  uint64_t entry_bytes = 0, packed_entry_bytes = 0;
  uint64_t words = 0, packed_word_bytes = 0;
};

struct EntryHead;

class PieceWriter {
 public:
  void add(const RecordView& record);
  // The ring is empty and its thread gone; what it has counted, or nullptr.
  void ring_ended(uint32_t ring, const RingHeader& header, const CallCounts* counts);
  bool empty() const { return entries_.size() == 0; }
  uint64_t raw_bytes() const { return raw_bytes_; }
  // The piece so far, and a new one begins.
  void take(std::span<const RingReader::Place> places, uint64_t records, Bytes& piece);

 private:
  void owner(uint32_t ring, const RingHeader& header);
  void put(EntryHead head, ByteView payload);
  size_t pack_entries();

  ByteWriter entries_;
  std::vector<uint64_t> words_;
  Bytes frame_;
  std::vector<bool> told_;  // by ring: whose it is
  uint64_t raw_bytes_ = 0;
};

// What a piece gives. The views are valid only during the call.
struct PieceVisitor {
  RecordVisitor record;
  std::function<void(uint32_t ring, const RingHeader& header, const CallCounts* counts)> ring_ended;
};

class PieceReader {
 public:
  // Corrupt: it is no whole piece.
  Status open(ByteView piece);
  const PieceHead& head() const { return head_; }
  const std::vector<RingReader::Place>& places() const { return places_; }
  // False: damaged. What came before was given.
  bool give(const PieceVisitor& visitor);

 private:
  bool give_entry(const EntryHead& head, ByteView payload, const PieceVisitor& visitor);

  PieceHead head_;
  std::vector<RingReader::Place> places_;
  Bytes entries_;
  std::vector<uint64_t> words_;
  size_t next_word_ = 0;
  uint64_t first_call_ = 0, calls_ = 0;  // of the Repeat that comes next
  std::unique_ptr<CallCounts> counts_;   // of the ring that ends next
  std::vector<std::unique_ptr<RingOwner>> owners_;  // by ring
};

}  // namespace gt::tracer
