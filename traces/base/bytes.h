// Little-endian byte strings: what every binary format of the project is written with.
//
// Integers are LEB128 varints unless the name says a width; signed ones are zigzag-coded. The reader never reads
// past its end: after the first bad read every further read gives zero and ok() stays false, so a parser may check
// once per record.
// Thread safety: none; one reader or writer per thread.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gt {

using Bytes = std::vector<uint8_t>;
using ByteView = std::span<const uint8_t>;

inline ByteView as_bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}
inline std::string_view as_text(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline uint64_t zigzag(int64_t v) {
  return (static_cast<uint64_t>(v) << 1) ^ static_cast<uint64_t>(v >> 63);
}
inline int64_t unzigzag(uint64_t v) {
  return static_cast<int64_t>(v >> 1) ^ -static_cast<int64_t>(v & 1);
}

class ByteWriter {
 public:
  void u8(uint8_t v) { out_.push_back(v); }
  void fixed32(uint32_t v) { raw(&v, sizeof v); }
  void fixed64(uint64_t v) { raw(&v, sizeof v); }
  void varint(uint64_t v) {
    while (v >= 0x80) {
      out_.push_back(static_cast<uint8_t>(v) | 0x80);
      v >>= 7;
    }
    out_.push_back(static_cast<uint8_t>(v));
  }
  void svarint(int64_t v) { varint(zigzag(v)); }
  // `n` numbers that next() gives, one after the other: faster than one by one.
  template <class Next>
  void svarints(size_t n, const Next& next) {
    constexpr size_t Longest = 10;
    const size_t before = out_.size();
    out_.resize(before + n * Longest);
    uint8_t* to = out_.data() + before;
    for (; n > 0; --n) {
      uint64_t v = zigzag(next());
      for (; v >= 0x80; v >>= 7) *to++ = static_cast<uint8_t>(v) | 0x80;
      *to++ = static_cast<uint8_t>(v);
    }
    out_.resize(static_cast<size_t>(to - out_.data()));
  }
  void bytes(ByteView v) {
    varint(v.size());
    out_.insert(out_.end(), v.begin(), v.end());
  }
  void text(std::string_view v) { bytes(as_bytes(v)); }
  void raw(const void* p, size_t n) {
    const auto* b = static_cast<const uint8_t*>(p);
    out_.insert(out_.end(), b, b + n);
  }

  size_t size() const { return out_.size(); }
  const Bytes& view() const { return out_; }
  Bytes take() { return std::move(out_); }
  void clear() { out_.clear(); }

 private:
  Bytes out_;
};

class ByteReader {
 public:
  explicit ByteReader(ByteView in) : in_(in) {}

  bool ok() const { return ok_; }
  bool at_end() const { return pos_ == in_.size(); }
  size_t remaining() const { return in_.size() - pos_; }

  uint8_t u8() { return has(1) ? in_[pos_++] : uint8_t{0}; }
  uint32_t fixed32() { return fixed<uint32_t>(); }
  uint64_t fixed64() { return fixed<uint64_t>(); }
  uint64_t varint() {
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint8_t b = u8();
      v |= static_cast<uint64_t>(b & 0x7f) << shift;
      if (!(b & 0x80)) return ok_ ? v : 0;
    }
    ok_ = false;  // more than ten bytes: not ours
    return 0;
  }
  int64_t svarint() { return unzigzag(varint()); }
  ByteView bytes() {
    const uint64_t n = varint();
    return raw(n);
  }
  std::string_view text() { return as_text(bytes()); }
  ByteView raw(uint64_t n) {
    if (!has(n)) return {};
    ByteView v = in_.subspan(pos_, n);
    pos_ += n;
    return v;
  }

 private:
  bool has(uint64_t n) {
    if (!ok_ || n > remaining()) ok_ = false;
    return ok_;
  }
  template <class T>
  T fixed() {
    T v{};
    if (has(sizeof v)) {
      std::memcpy(&v, in_.data() + pos_, sizeof v);
      pos_ += sizeof v;
    }
    return v;
  }

  ByteView in_;
  size_t pos_ = 0;
  bool ok_ = true;
};

}  // namespace gt
