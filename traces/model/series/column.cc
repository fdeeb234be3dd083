// Writing and reading columns: tokens over deltas.
#include "traces/model/series/column.h"

#include <algorithm>

#include "traces/model/series/pack.h"

namespace gt::model {
namespace {

// Where nothing has matched for so long, each Round of values is looked at in its first Part only.
constexpr uint64_t MostFruitless = 512, Round = 1024, Part = 256;
constexpr size_t MaxChunkBytes = 4 * Column::ChunkBytes;

size_t slot(uint64_t position) { return position % Column::Reach; }

}  // namespace

size_t Column::memory_bytes() const {
  size_t n = sizeof *this;
  for (const auto& c : chunks) n += sizeof *c + c->size();
  return n;
}

bool Column::operator==(const Column& other) const {
  if (size != other.size || chunks.size() != other.chunks.size()) return false;
  if (summarised() && (least != other.least || most != other.most)) return false;
  return std::equal(chunks.begin(), chunks.end(), other.chunks.begin(),
                    [](const auto& a, const auto& b) { return *a == *b; });
}

void ColumnBuilder::append_all(std::span<const int64_t> values) {
  while (!values.empty()) {
    if (waiting_.size() == MostWaiting) code_waiting();
    const auto some = values.first(std::min(values.size(), MostWaiting - waiting_.size()));
    waiting_.insert(waiting_.end(), some.begin(), some.end());
    values = values.subspan(some.size());
  }
}

bool ColumnBuilder::clear_uncoded() {
  if (position_ > 0 || summarised_) return false;
  waiting_.clear();
  return true;
}

void ColumnBuilder::code_waiting() {
  for (std::span<const int64_t> left(waiting_); !left.empty();) {
    const size_t n = std::min(unlooked(), left.size());
    if (n > 0) code_literals(left.first(n));
    if (n == 0) code(left[0]);
    left = left.subspan(std::max<size_t>(n, 1));
  }
  waiting_.clear();
}

// How many values from here on will be literals, whatever they are, and stay in the open chunk.
size_t ColumnBuilder::unlooked() const {
  constexpr size_t LongestVarint = 10;
  const uint64_t at = (position_ + 1) % Round;
  if (distance_ != 0 || fruitless_ <= MostFruitless || at < Part || summarised_) return 0;
  const size_t open = tokens_.size() + literals_.size();
  return std::min<size_t>(Round - at, open < Column::ChunkBytes ? (Column::ChunkBytes - open) / LongestVarint : 0);
}

void ColumnBuilder::code_literals(std::span<const int64_t> values) {
  const int64_t* at = values.data();
  literals_.svarints(values.size(), [&] {
    note(*at);
    const auto v = static_cast<uint64_t>(*at++);
    const uint64_t delta = v - previous_;
    previous_ = v;
    recent_[slot(position_++)] = delta;
    return static_cast<int64_t>(delta);
  });
  literal_count_ += values.size();
}

void ColumnBuilder::code(int64_t value) {
  note(value);
  if (summarised_) {
    ++position_;
    previous_ = static_cast<uint64_t>(value);
    return;
  }
  const auto v = static_cast<uint64_t>(value);
  append_delta(v - previous_);
  previous_ = v;
}

void ColumnBuilder::append_delta(uint64_t delta) {
  if (distance_ != 0) {
    if (recent_[slot(position_ - distance_)] == delta) {
      ++length_;
      recent_[slot(position_++)] = delta;
      return;
    }
    write_match();
  }
  literals_.svarint(static_cast<int64_t>(delta));
  ++literal_count_;
  recent_[slot(position_++)] = delta;
  close_chunk_if_full();
  look_for_match();
}

// Three deltas seen before, not too far back: what followed them then may follow now.
void ColumnBuilder::look_for_match() {
  if (position_ < 3 || (fruitless_ > MostFruitless && position_ % Round >= Part)) return;
  ++fruitless_;
  uint64_t hash = recent_[slot(position_ - 1)];
  hash = hash * 0x9e3779b97f4a7c15u + recent_[slot(position_ - 2)];
  hash = hash * 0x9e3779b97f4a7c15u + recent_[slot(position_ - 3)];
  uint64_t& before = seen_[(hash * 0x9e3779b97f4a7c15u) >> 58];
  const uint64_t distance = position_ - before;
  const bool near = before >= 3 && distance + 3 <= Column::Reach;
  bool same = near;
  for (uint64_t i = 1; same && i <= 3; ++i) {
    same = recent_[slot(position_ - i)] == recent_[slot(before - i)];
  }
  before = position_;
  if (same) distance_ = distance;
}

void ColumnBuilder::write_match() {
  if (length_ > 0) {
    fruitless_ = 0;
    write_literals();
    tokens_.varint(length_ * 2 + 1);
    tokens_.u8(static_cast<uint8_t>(distance_));
  }
  distance_ = length_ = 0;
}

void ColumnBuilder::write_literals() {
  if (literal_count_ == 0) return;
  tokens_.varint(literal_count_ * 2);
  tokens_.raw(literals_.view().data(), literals_.size());
  literals_.clear();
  literal_count_ = 0;
}

void ColumnBuilder::close_chunk_if_full() {
  if (tokens_.size() + literals_.size() < Column::ChunkBytes) return;
  write_literals();
  closed_.chunks.push_back(std::make_shared<const Bytes>(pack(tokens_.view())));
  tokens_.clear();
}

// REQUIRES: the open copy holds for `count` more values, which is a multiple of Reach and of the
// pattern's length.
void ColumnBuilder::skip(uint64_t count) {
  length_ += count;
  position_ += count;
}

void ColumnBuilder::append_run(int64_t start, int64_t step, uint64_t count) {
  uint64_t v = static_cast<uint64_t>(start);
  const auto d = static_cast<uint64_t>(step);
  if (count == 0) return;
  if (count <= MostWaiting - waiting_.size()) {
    for (; count > 0; --count, v += d) waiting_.push_back(static_cast<int64_t>(v));
    return;
  }
  code_waiting();
  const uint64_t last = v + d * (count - 1);
  note(static_cast<int64_t>(last));
  if (summarised_) {
    note(start);
    position_ += count;
    previous_ = last;
    return;
  }
  for (uint64_t i = 0; i < count; ++i, v += d) {
    // After Reach equal deltas any open copy copies this very delta.
    if (i == 2 * Column::Reach && distance_ != 0) {
      const uint64_t bulk = (count - i) / Column::Reach * Column::Reach;
      skip(bulk);
      previous_ += d * bulk;
      v += d * bulk;
      i += bulk;
      if (i == count) return;
    }
    code(static_cast<int64_t>(v));
  }
}

void ColumnBuilder::append_pattern(std::span<const int64_t> pattern, uint64_t count) {
  const uint64_t p = pattern.size(), whole = p * Column::Reach;
  code_waiting();
  for (uint64_t i = 0; i < count; ++i) {
    // Between rounds, when the open copy has held for whole rounds and its distance is a number of
    // rounds.
    if (i == 4 * whole && distance_ != 0 && distance_ % p == 0) {
      const uint64_t bulk = (count - i) / whole * whole;
      skip(bulk);
      i += bulk;
      if (i == count) return;
    }
    code(pattern[i % p]);
  }
}

void ColumnBuilder::summarise() {
  code_waiting();
  summarised_ = true;
  closed_ = {};
  tokens_ = {};
  literals_ = {};
  literal_count_ = distance_ = length_ = 0;
}

void ColumnBuilder::append_summary(const Column& column) {
  code_waiting();
  note(column.least);
  note(column.most);
  position_ += column.size;
}

size_t ColumnBuilder::memory_bytes() const {
  return sizeof *this + closed_.memory_bytes() + tokens_.size() + literals_.size() +
         waiting_.capacity() * sizeof waiting_[0];
}

size_t ColumnBuilder::stored_bytes() const {
  size_t n = 8 + tokens_.size() + literals_.size() + waiting_.size();
  for (const auto& chunk : closed_.chunks) n += chunk->size();
  return n;
}

std::shared_ptr<const Column> ColumnBuilder::finish() const { return finish_with(pack); }
std::shared_ptr<const Column> ColumnBuilder::finish_to_read() const { return finish_with(pack_as_it_is); }

std::shared_ptr<const Column> ColumnBuilder::finish_with(Bytes (*pack_last)(ByteView)) const {
  ColumnBuilder copy(*this);
  copy.code_waiting();
  copy.closed_.least = copy.least_;
  copy.closed_.most = copy.most_;
  copy.write_match();
  copy.write_literals();
  if (copy.tokens_.size() > 0) {
    copy.closed_.chunks.push_back(std::make_shared<const Bytes>(pack_last(copy.tokens_.view())));
  }
  copy.closed_.size = copy.position_;
  return std::make_shared<const Column>(std::move(copy.closed_));
}

bool ColumnReader::next(int64_t& value) {
  if (position_ >= column_->size) return false;
  if (column_->chunks.empty()) {
    ++position_;
    value = Unkept;
    return true;
  }
  if (literals_left_ == 0 && copies_left_ == 0 && !next_token()) {
    position_ = column_->size;
    return false;
  }
  uint64_t delta = 0;
  if (copies_left_ > 0) {
    --copies_left_;
    delta = recent_[slot(position_ - distance_)];
  } else {
    --literals_left_;
    ByteReader in(ByteView(raw_).subspan(at_));
    delta = static_cast<uint64_t>(in.svarint());
    if (!in.ok()) {
      position_ = column_->size;
      return false;
    }
    at_ = raw_.size() - in.remaining();
  }
  previous_ += delta;
  recent_[slot(position_++)] = delta;
  value = static_cast<int64_t>(previous_);
  return true;
}

bool ColumnReader::next_token() {
  if (at_ == raw_.size() && !next_chunk()) return false;
  ByteReader in(ByteView(raw_).subspan(at_));
  const uint64_t header = in.varint();
  if (header % 2 == 0) {
    literals_left_ = header / 2;
  } else {
    copies_left_ = header / 2;
    distance_ = in.u8();
    if (distance_ == 0 || distance_ > Column::Reach || distance_ > position_) return false;
  }
  at_ = raw_.size() - in.remaining();
  return in.ok() && header > 1;
}

bool ColumnReader::next_chunk() {
  if (chunk_ == column_->chunks.size()) return false;
  at_ = 0;
  return unpack(*column_->chunks[chunk_++], MaxChunkBytes, raw_) && !raw_.empty();
}

std::shared_ptr<const Column> summarise(const Column& column) {
  Column summary;
  summary.size = column.size;
  summary.least = column.least;
  summary.most = column.most;
  return std::make_shared<const Column>(std::move(summary));
}

std::shared_ptr<const Column> make_column(std::span<const int64_t> values) {
  ColumnBuilder builder;
  for (const int64_t v : values) builder.append(v);
  return builder.finish();
}

}  // namespace gt::model
