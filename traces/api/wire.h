// Encoded calls: the layout of one call's arguments as 8-byte words.
//
// A number, handle or address is one word (signed numbers sign-extended). An array is a count word
// and its elements. A byte string is a length word and its bytes, padded with zeros to the next
// word. NullWord as count or length: the pointer was NULL. UnreadableWord: it could not be followed, and
// is the next word. Which layout an argument has is its
// role's Wire (roles.h); nothing else is stored, so an encoded call can only be read with the
// number of its function.
//
// Length words have two flags. NoContents: the length is known, the bytes are not here (what a
// transfer moves, when only recording). External: the bytes are the next blob of a list that
// travels beside the call (huge sources). The length MapsMemory stands for memory that the reader's own
// map of objects gives, as much as the call needs (ObjectMap::host). Integers are little-endian; the
// encoder writes them as the machine does.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "traces/base/bytes.h"

namespace gt::api {

constexpr uint64_t NullWord = ~uint64_t{0};
constexpr uint64_t UnreadableWord = ~uint64_t{1};
constexpr uint64_t External = uint64_t{1} << 63;
constexpr uint64_t NoContents = uint64_t{1} << 62;
constexpr uint64_t MapsMemory = NoContents | (NoContents - 1);

// First word of Wire::Info. InfoHandles + ObjectKind: handles (or addresses of memory of that
// kind).
enum InfoTag : uint64_t {
  InfoNull = 0,
  InfoBytes = 1,
  InfoList = 2,
  InfoOpaque = 3,
  InfoUnreadable = 4,
  InfoHandles = 16
};

constexpr size_t padded(size_t bytes) { return (bytes + 7) & ~size_t{7}; }

// Are the bytes that transfers read and write part of the encoded call?
enum class Contents : bool { None, Full };

// Measures what another writer will be given.
class SizeWriter {
 public:
  void word(uint64_t) noexcept { size_ += 8; }
  void bytes(const void*, size_t length) noexcept { size_ += 8 + padded(length); }
  size_t size() const noexcept { return size_; }

 private:
  size_t size_ = 0;
};

// Writes into memory that is large enough (SizeWriter). REQUIRES: 8-byte alignment is not needed.
class SpanWriter {
 public:
  explicit SpanWriter(void* to) : to_(static_cast<uint8_t*>(to)) {}
  void word(uint64_t v) noexcept {
    std::memcpy(to_, &v, 8);
    to_ += 8;
  }
  void bytes(const void* p, size_t length) noexcept {
    word(length);
    if (length == 0) return;
    const size_t tail = padded(length) - length;
    std::memcpy(to_, p, length);
    std::memset(to_ + length, 0, tail);
    to_ += length + tail;
  }
  uint8_t* end() const { return to_; }

 private:
  uint8_t* to_;
};

// Appends to a vector: for tests, proxies, tools.
class VectorWriter {
 public:
  void word(uint64_t v) { append(&v, 8); }
  void bytes(const void* p, size_t length) {
    word(length);
    if (length) append(p, length);
    out_.resize(padded(out_.size()));
  }
  Bytes& view() { return out_; }
  bool keeps_contents() const { return keeps_contents_; }
  void leave_contents_out() { keeps_contents_ = false; }  // of what calls read from devices

 private:
  void append(const void* p, size_t n) {
    const auto* b = static_cast<const uint8_t*>(p);
    out_.insert(out_.end(), b, b + n);
  }
  Bytes out_;
  bool keeps_contents_ = true;
};

// Reads words and never past the end. After the first bad read every further one gives zero, and
// ok() stays false.
class WordReader {
 public:
  explicit WordReader(ByteView in) : at_(in.data()), end_(in.data() + in.size()) {}
  bool ok() const { return ok_; }
  bool at_end() const { return at_ == end_; }
  uint64_t word() {
    uint64_t v = 0;
    if (!has(8)) return 0;
    std::memcpy(&v, at_, 8);
    at_ += 8;
    return v;
  }
  // The bytes that follow a length word.
  ByteView bytes(uint64_t length) {
    if (length > left() || !has(padded(length))) {
      ok_ = false;
      return {};
    }
    const ByteView v(at_, length);
    at_ += padded(length);
    return v;
  }
  // A count word of elements of at least one word each: never larger than what is left.
  uint64_t count() {
    const uint64_t n = word();
    if (n < UnreadableWord && n > left() / 8) ok_ = false;
    return ok_ ? n : 0;
  }
  void fail() { ok_ = false; }

 private:
  size_t left() const { return static_cast<size_t>(end_ - at_); }
  bool has(size_t n) {
    if (n > left()) ok_ = false;
    return ok_;
  }
  const uint8_t* at_;
  const uint8_t* end_;
  bool ok_ = true;
};

}  // namespace gt::api
