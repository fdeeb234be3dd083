// Messages larger than a frame: cut by who sends, put together by who receives.
// Thread safety: send_message from any thread; one Assembler per channel.
#pragma once

#include <algorithm>
#include <atomic>
#include <unordered_map>

#include "transport/protocol/codec.h"
#include "transport/protocol/messages.h"

namespace gt::wire {

// Numbers fragmented messages of one link end.
using FragmentNumbers = std::atomic<uint32_t>;

// Sends an encoded message; FragmentType is the sender's direction.
template <class FragmentType>
Status send_message(Link& link, FragmentNumbers& numbers, ByteView message, bool more = false) {
  constexpr size_t Most = LargestFrame - 64;  // leaves room for the fragment's own fields
  const auto one = [&](ByteView frame, bool follows) {
    const ByteView parts[] = {frame};
    return link.send(parts, follows);
  };
  if (message.size() <= LargestFrame) return one(message, more);
  FragmentType fragment;
  fragment.number = ++numbers;
  Bytes frame;
  while (!message.empty()) {
    fragment.bytes = message.first(std::min(Most, message.size()));
    message = message.subspan(fragment.bytes.size());
    fragment.last = message.empty();
    encode(fragment, frame);
    GT_TRY(one(frame, more || !fragment.last));
  }
  return {};
}

// Collects fragments. A peer that begins too much is refused.
class Assembler {
 public:
  explicit Assembler(size_t most_bytes) : most_(most_bytes) {}

  // False: damaged or too large. `whole` gets the message when `frame` was its last fragment, else stays empty.
  template <class FragmentType>
  bool take(ByteView frame, Bytes& whole) {
    FragmentType fragment;
    whole.clear();
    if (!decode(frame, fragment) || fragment.bytes.size() > most_ - bytes_) return false;
    Bytes& begun = begun_[fragment.number];
    begun.insert(begun.end(), fragment.bytes.begin(), fragment.bytes.end());
    bytes_ += fragment.bytes.size();
    if (!fragment.last) return begun_.size() <= MostBegun;
    whole = std::move(begun);
    bytes_ -= whole.size();
    begun_.erase(fragment.number);
    return !whole.empty();
  }

 private:
  static constexpr size_t MostBegun = 64;

  size_t most_, bytes_ = 0;
  std::unordered_map<uint32_t, Bytes> begun_;
};

}  // namespace gt::wire
