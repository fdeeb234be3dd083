#include "transport/link/base/out_stream.h"

#include <algorithm>

#include "transport/staging/program_faults.h"

namespace gt::wire {
namespace {

constexpr size_t Block = size_t{16} << 10;

}  // namespace

// The last piece, with room for `bytes` that does not move what is in it.
OutStream::Piece& OutStream::open_block(size_t bytes) {
  if (!pieces_.empty()) {
    Piece& last = pieces_.back();
    if (!last.own.empty() && last.own.capacity() - last.own.size() >= bytes) return last;
  }
  Piece& piece = pieces_.emplace_back();
  piece.begin = end_;
  if (bytes <= Block) piece.own = std::move(spare_);
  piece.own.reserve(std::max(bytes, Block));
  piece.data = piece.own.data();
  return piece;
}

void OutStream::copy(ByteView bytes) {
  if (bytes.empty()) return;
  Piece& piece = open_block(bytes.size());
  piece.own.insert(piece.own.end(), bytes.begin(), bytes.end());
  piece.size += bytes.size();
  end_ += bytes.size();
}

void OutStream::refer(const void* p, size_t bytes) {
  if (bytes == 0) return;
  pieces_.push_back({end_, static_cast<const uint8_t*>(p), bytes, {}});
  end_ += bytes;
}

size_t OutStream::unwritten(std::span<iovec> parts) const {
  size_t n = 0;
  for (size_t i = next_; i < pieces_.size() && n < parts.size(); ++i) {
    const Piece& piece = pieces_[i];
    const size_t skip = written_ > piece.begin ? static_cast<size_t>(written_ - piece.begin) : 0;
    if (skip < piece.size) parts[n++] = {const_cast<uint8_t*>(piece.data) + skip, piece.size - skip};
  }
  return n;
}

void OutStream::wrote(size_t bytes) {
  written_ += bytes;
  while (next_ < pieces_.size() && pieces_[next_].begin + pieces_[next_].size <= written_) {
    if (next_ + 1 == pieces_.size()) break;  // the last one may still grow
    ++next_;
  }
}

bool OutStream::acknowledge(uint64_t position) {
  if (position > written_) return false;
  if (position <= acknowledged_) return true;  // an older message
  acknowledged_ = position;
  while (!pieces_.empty() && pieces_.front().begin + pieces_.front().size <= position) {
    Piece& piece = pieces_.front();
    if (piece.own.capacity() == Block) {
      spare_ = std::move(piece.own);
      spare_.clear();
    }
    pieces_.pop_front();
    if (next_ > 0) --next_;
  }
  return true;
}

bool OutStream::rewind(uint64_t position) {
  if (position > written_ || position < acknowledged_) return false;
  acknowledge(position);
  written_ = position;
  next_ = 0;
  wrote(0);
  return true;
}

bool OutStream::keep_next() {
  for (size_t i = next_; i < pieces_.size(); ++i) {
    Piece& piece = pieces_[i];
    if (!piece.own.empty() || piece.begin + piece.size <= written_) continue;
    return own(piece), true;
  }
  return false;
}

void OutStream::own(Piece& piece) {
  piece.own.resize(piece.size);
  staging::copy_from_program(piece.own.data(), piece.data, piece.size);
  piece.data = piece.own.data();
}

void OutStream::keep(const void* base, size_t bytes) {
  const auto* const from = static_cast<const uint8_t*>(base);
  for (Piece& piece : pieces_) {
    if (!piece.own.empty() || piece.data < from || piece.data >= from + bytes) continue;
    own(piece);
  }
}

void OutStream::drop_all() {
  pieces_.clear();
  next_ = 0;
  acknowledged_ = written_ = end_;
}

}  // namespace gt::wire
