// What a call came to when it was made with the same arguments before.
//
// In a loop most calls are given the very bytes that they were given an iteration or two ago, and mean the same as long
// as the handles and pointers among them do. So a call's naming is kept with its encoded inputs: comparing those, and
// looking the objects up again, replaces decoding and naming. A place in the code keeps two calls, for loops that go
// to and fro between two buffers; one whose calls never repeat stops keeping them. A place is a call site and a
// function.
// Thread safety: none.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "tracer/collect/interning.h"
#include "tracer/collect/known_objects.h"
#include "tracer/collect/names.h"
#include "traces/base/bytes.h"

namespace gt::tracer {

// Facts: what the collector found out about the call. Everything else in it is what it was found out from.
template <class Facts>
struct CallMemo {
  struct KnownHandle {
    uint64_t value;
    Handle handle;
  };
  struct KnownPlace {
    uint64_t address;
    Place place;
  };
  struct KernelValue {  // of clSetKernelArg
    uint64_t value;
    BoundArg bound;
  };

  Bytes inputs;  // encoded
  std::vector<KnownHandle> handles;
  std::vector<KnownPlace> places;
  std::optional<KernelValue> kernel_value;

  Facts facts;
  std::vector<model::Arg> args;  // but for the first (ParamAllocs), which is the same in all calls
  std::vector<int64_t> values;   // the same
  model::Direction moves = model::Direction::None;
};

// The same of what a call returned, when that is numbers.
struct ResultMemo {
  Bytes outputs;  // encoded
  std::vector<model::Arg> args;
  std::vector<int64_t> values;
};

// The calls of one place.
template <class Facts>
class PlaceMemos {
 public:
  using Memo = CallMemo<Facts>;

  explicit PlaceMemos(uint64_t key) : key_(key) {}
  uint64_t key() const { return key_; }

  // The call with these inputs, or null. Whether it still holds is for the caller to find out, and to say with held().
  Memo* find(ByteView inputs) {
    for (Memo& m : calls_) {
      if (equal(m.inputs, inputs)) return &m;
    }
    score_ = std::max(score_ - 1, -1);
    return nullptr;
  }
  void held() { score_ = std::min(score_ + 2, Most); }

  // Where to keep a call that was not found, or did not hold; null when that has not been worth it.
  Memo* make_room() {
    if (score_ < 0 && ++rests_ % Rest != 0) return nullptr;
    next_ = !next_;
    return &calls_[next_];
  }

  bool returned_before(ByteView outputs) const { return equal(results.outputs, outputs); }
  ResultMemo results;  // of the last call that returned nothing but numbers

 private:
  static constexpr int Most = 16, Rest = 64;
  static bool equal(const Bytes& known, ByteView given) {
    return known.size() == given.size() && !given.empty() && std::memcmp(known.data(), given.data(), given.size()) == 0;
  }

  uint64_t key_;
  std::array<Memo, 2> calls_;
  int score_ = Most;  // below 0: its calls do not repeat
  unsigned rests_ = 0;
  bool next_ = false;
};

// The places of a thread's calls. Those that are met at the same slots push one another out.
template <class Facts>
class CallMemos {
 public:
  // Valid until another place is asked for.
  PlaceMemos<Facts>& at(uint64_t key) {
    const size_t home = mix(0, key);
    for (size_t i = 0; i < Near; ++i) {
      Slot& slot = slots_[(home + i) % slots_.size()];
      if (!slot) slot = std::make_unique<PlaceMemos<Facts>>(key);
      if (slot->key() == key) return *slot;
    }
    Slot& slot = slots_[home % slots_.size()];
    slot = std::make_unique<PlaceMemos<Facts>>(key);
    return *slot;
  }

 private:
  using Slot = std::unique_ptr<PlaceMemos<Facts>>;
  static constexpr size_t Near = 4;
  std::array<Slot, 256> slots_;
};

}  // namespace gt::tracer
