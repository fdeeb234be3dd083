// Numbers for what transfers move: the same content has the same number, the first one 0.
//
// A content is the hash of its bytes and their number. So that a program whose data never comes again does not fill the
// collector's memory, only the last contents are remembered, by use: between Most and twice as many. One that was
// forgotten and comes again gets another number; forgotten() counts how many were. Equal numbers always mean equal
// contents.
// Thread safety: none.
#pragma once

#include <cstdint>
#include <utility>

#include "tracer/collect/address_map.h"
#include "tracer/collect/interning.h"

namespace gt::tracer {

constexpr int64_t UnknownContent = -1;

class ContentNumbers {
 public:
  explicit ContentNumbers(size_t most = size_t{1} << 20) : most_(most) {}

  int64_t operator()(uint64_t hash, uint64_t bytes) {
    uint64_t key = mix(hash, bytes);
    if (key == 0) key = 1;  // AddressMap has no 0
    if (const int64_t* known = recent_.find(key)) return *known;
    const int64_t* older = older_.find(key);
    const int64_t number = older ? *older : next_++;
    if (recent_.size() >= most_) forget();
    return recent_[key] = number;
  }
  uint64_t forgotten() const { return forgotten_; }

 private:
  // What was not used since the last time goes.
  void forget() {
    older_.for_each([this](uint64_t key, int64_t) { forgotten_ += recent_.find(key) == nullptr; });
    older_ = std::exchange(recent_, {});
  }

  size_t most_;
  AddressMap<int64_t> recent_, older_;  // a content that is used again is in both
  int64_t next_ = 0;
  uint64_t forgotten_ = 0;
};

}  // namespace gt::tracer
