// Column: a sequence of values too irregular for a closed form, kept compressed.
//
// Values are delta-coded; the deltas are tokens, either literal or "copy n deltas from d back" with
// d <= Reach. So a constant, an arithmetic progression or a pattern of period <= Reach costs one
// token however long it lasts, also after an irregular beginning. Tokens are cut into chunks and
// each chunk is zstd-compressed. A column may be *summarised* (--max-size): then only the number of
// values, the least and the greatest are left. Chunk:  varint(raw size * 2 + compressed), then the tokens, as
// they are or as a zstd frame. Token:  varint(n * 2), n signed varints (deltas)   |   varint(n * 2
// + 1), one byte d. Thread safety: a Column is immutable and may be shared; builders and readers
// belong to one thread.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "traces/base/bytes.h"

namespace gt::model {

// What a reader gives for a value that was not kept. A program that really uses this number is shown to have used a
// value that was not kept, in summarised columns only.
constexpr int64_t Unkept = std::numeric_limits<int64_t>::min();

struct Column {
  static constexpr uint64_t Reach = 64;  // how far back a copy may reach; a power of two
  static constexpr size_t ChunkBytes = 32
                                       << 10;  // a chunk is closed when its tokens reach this size

  uint64_t size = 0;  // values
  std::vector<std::shared_ptr<const Bytes>> chunks;
  // Of the values (a progression that wraps at 64 bits may leave them). Known when just built, and when summarised.
  int64_t least = 0, most = 0;

  bool summarised() const { return size > 0 && chunks.empty(); }

  size_t memory_bytes() const;
  bool operator==(const Column& other) const;
};

// Collects a column. Values wait, to be coded many at a time, which takes less time; a short column that is only read
// again is never coded. Cost: a few nanoseconds a value, no memory while a pattern goes on.
class ColumnBuilder {
 public:
  void append(int64_t value) {
    if (waiting_.size() == MostWaiting) code_waiting();
    waiting_.push_back(value);
  }
  void append_all(std::span<const int64_t> values);
  // start, start + step, ... `count` values, in constant time for a large count.
  void append_run(int64_t start, int64_t step, uint64_t count);
  // pattern[0], pattern[1], ... over and over, `count` values, in time of the order of the pattern.
  void append_pattern(std::span<const int64_t> pattern, uint64_t count);

  // From here on only size, least and most are kept.
  void summarise();
  bool summarised() const { return summarised_; }
  void append_summary(const Column& column);  // REQUIRES: both are summarised

  uint64_t size() const { return position_ + waiting_.size(); }
  int64_t last() const { return waiting_.empty() ? static_cast<int64_t>(previous_) : waiting_.back(); }
  // All values, where none was coded yet; else none.
  std::span<const int64_t> uncoded() const { return position_ == 0 ? waiting_ : std::span<const int64_t>(); }
  // Begins anew, with the memory that it has. False: it was coded, so nothing was done.
  bool clear_uncoded();
  size_t memory_bytes() const;
  size_t stored_bytes() const;  // in a file, about
  std::shared_ptr<const Column> finish() const;          // the builder stays usable
  std::shared_ptr<const Column> finish_to_read() const;  // the same for a reader who comes now: less is compressed

 private:
  void note(int64_t value) {
    if (value == Unkept) return;
    least_ = value < least_ ? value : least_;
    most_ = value > most_ ? value : most_;
  }
  std::shared_ptr<const Column> finish_with(Bytes (*pack_last)(ByteView)) const;
  void code_waiting();
  void code(int64_t value);
  void code_literals(std::span<const int64_t> values);
  size_t unlooked() const;
  void append_delta(uint64_t delta);
  void look_for_match();
  void write_match();
  void write_literals();
  void close_chunk_if_full();
  void skip(uint64_t count);

  static constexpr size_t MostWaiting = 512;

  std::vector<int64_t> waiting_;  // after all others
  Column closed_;
  ByteWriter tokens_;    // of the open chunk
  ByteWriter literals_;  // of the open literal token
  uint64_t literal_count_ = 0;
  uint64_t previous_ = 0;
  uint64_t position_ = 0;                         // values coded so far
  std::array<uint64_t, Column::Reach> recent_{};  // delta at position p is recent_[p % Reach]
  std::array<uint64_t, 64> seen_{};               // by hash of three deltas: position after them
  uint64_t distance_ = 0, length_ = 0;            // of the open copy; distance_ 0: none
  uint64_t fruitless_ = 0;                        // looks for a match since the last one
  int64_t least_ = std::numeric_limits<int64_t>::max(), most_ = std::numeric_limits<int64_t>::min();
  bool summarised_ = false;
};

// Reads a column from its beginning. REQUIRES: the Column outlives the reader.
class ColumnReader {
 public:
  explicit ColumnReader(const Column& column) : column_(&column) {}
  // False at the end, and for ever when the column is damaged. Unkept, again and again, when it is summarised.
  bool next(int64_t& value);

 private:
  bool next_token();
  bool next_chunk();

  const Column* column_;
  size_t chunk_ = 0;
  Bytes raw_;
  size_t at_ = 0;  // in raw_
  uint64_t literals_left_ = 0, copies_left_ = 0, distance_ = 0;
  uint64_t previous_ = 0, position_ = 0;
  std::array<uint64_t, Column::Reach> recent_{};
};

// The same column without its values. REQUIRES: least and most are known.
std::shared_ptr<const Column> summarise(const Column& column);

std::shared_ptr<const Column> make_column(std::span<const int64_t> values);

}  // namespace gt::model
