// Messages that came after an inline transfer for which there is no room now (InFlight): they wait with it.
//
//   on_frame ── nothing waits ──────────────────────────────► dispatch
//            └─ something waits: behind it, as far as Most ─► a thread dispatches in order as room comes back
//
// What the room may depend on must not wait behind it, so messages that only say that events are over, or ask to be
// told of them, go ahead (Executor::State::may_go_ahead()). Beyond Most bytes the link is not read any more.
// Thread safety: with the lock of dispatching, where nothing else is said.
#pragma once

#include <atomic>
#include <deque>

#include "traces/base/bytes.h"

namespace gt::exec {

class Backlog {
 public:
  bool empty() const { return frames_.empty(); }
  size_t size() const { return frames_.size(); }
  // From any thread. Beyond Most no more should come.
  bool is_full() const { return bytes_ > Most; }

  void push_back(ByteView frame) {
    frames_.emplace_back(frame.begin(), frame.end());
    bytes_ += frame.size();
  }
  // The message that was popped cannot begin yet.
  void put_back(ByteView frame) {
    frames_.emplace_front(frame.begin(), frame.end());
    bytes_ += frame.size();
    is_blocked_ = true;
  }
  // The next message. REQUIRES: not empty.
  Bytes pop() {
    Bytes frame = std::move(frames_.front());
    frames_.pop_front();
    bytes_ -= frame.size();
    return frame;
  }
  // One was put back since unblock().
  bool is_blocked() const { return is_blocked_; }
  void unblock() { is_blocked_ = false; }

 private:
  static constexpr uint64_t Most = uint64_t{4} << 20;

  std::deque<Bytes> frames_;
  std::atomic<uint64_t> bytes_{0};
  bool is_blocked_ = false;
};

}  // namespace gt::exec
