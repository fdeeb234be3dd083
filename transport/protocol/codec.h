// Messages to bytes and back, from their fields() (messages.h says the layout).
//
// Decoding trusts nothing: any input gives a message or false; lists are never longer than the bytes that are left, and
// views point into the input. Encoding appends to a buffer whose capacity is kept from message to message.
// Thread safety: no state.
#pragma once

#include <array>
#include <concepts>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "traces/base/bytes.h"

namespace gt::wire {

template <class T>
concept Plain = std::is_integral_v<T> || std::is_enum_v<T>;

class Encoder {
 public:
  explicit Encoder(Bytes& out) : out_(out) {}

  template <class... T>
  void operator()(const T&... values) { (put(values), ...); }
  template <class... T>
  void appended(const T&... values) { (put(values), ...); }

 private:
  template <Plain T>
  void put(T v) { raw(&v, sizeof v); }
  void put(ByteView v) {
    put(static_cast<uint32_t>(v.size()));
    raw(v.data(), v.size());
  }
  void put(const std::string& v) { put(as_bytes(v)); }
  void put(const Bytes& v) { put(ByteView(v)); }
  template <Plain T, size_t N>
  void put(const std::array<T, N>& v) { raw(v.data(), sizeof v); }
  template <class T>
  void put(const std::vector<T>& v) {
    put(static_cast<uint32_t>(v.size()));
    for (const T& element : v) put(element);
  }
  template <class T>
    requires requires(T t, Encoder& e) { t.fields(e); }
  void put(const T& v) { const_cast<T&>(v).fields(*this); }  // fields() only hands its members on

  void raw(const void* p, size_t n) {
    const auto* b = static_cast<const uint8_t*>(p);
    out_.insert(out_.end(), b, b + n);
  }

  Bytes& out_;
};

class Decoder {
 public:
  explicit Decoder(ByteView in) : in_(in) {}

  bool ok() const { return ok_; }
  bool at_end() const { return in_.empty(); }

  template <class... T>
  void operator()(T&... values) { (get(values), ...); }
  // Fields that the version had not at first, the last ones of a message: who does not know them ends before.
  template <class... T>
  void appended(T&... values) {
    const auto take_one = [this](auto& value) {
      if (!ok_ || at_end()) value = {};
      else get(value);
    };
    (take_one(values), ...);
  }

 private:
  template <Plain T>
  void get(T& v) {
    if (const ByteView b = take(sizeof v); !b.empty()) std::memcpy(&v, b.data(), sizeof v);
  }
  void get(ByteView& v) { v = take(length(1)); }
  void get(std::string& v) { v = as_text(take(length(1))); }
  void get(Bytes& v) {
    const ByteView b = take(length(1));
    v.assign(b.begin(), b.end());
  }
  template <Plain T, size_t N>
  void get(std::array<T, N>& v) {
    if (const ByteView b = take(sizeof v); !b.empty()) std::memcpy(v.data(), b.data(), sizeof v);
  }
  template <class T>
  void get(std::vector<T>& v) {
    v.clear();
    for (uint32_t n = length(least_bytes<T>()); n > 0 && ok_; --n) get(v.emplace_back());
  }
  template <class T>
    requires requires(T t, Decoder& d) { t.fields(d); }
  void get(T& v) { v.fields(*this); }

  template <class T>
  static constexpr size_t least_bytes() {
    if constexpr (Plain<T>) return sizeof(T);
    return 4;  // structures and strings have at least a count or a number
  }
  // A count of elements that have at least `least` bytes each.
  uint32_t length(size_t least) {
    uint32_t n = 0;
    get(n);
    if (n > in_.size() / least) fail();
    return ok_ ? n : 0;
  }
  ByteView take(size_t n) {
    if (n > in_.size()) fail();
    if (!ok_) return {};
    const ByteView v = in_.first(n);
    in_ = in_.subspan(n);
    return v;
  }
  void fail() { ok_ = false; }

  ByteView in_;
  bool ok_ = true;
};

// Replaces what is in `out`.
template <class Message>
void encode(const Message& message, Bytes& out) {
  out.clear();
  Encoder e(out);
  e(Message::Type, message);
}

// REQUIRES: the first byte of `frame` is the message's type. False: damaged; `message` is not to be used.
template <class Message>
bool decode(ByteView frame, Message& message) {
  Decoder d(frame.subspan(1));
  d(message);
  return d.ok();
}

}  // namespace gt::wire
