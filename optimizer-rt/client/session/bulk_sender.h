// The client's half of large writes: chunks go into free slots of the executor's inbox.
//
// Transfers go one after the other, in the order in which they were handed in (slots.h says why). While there are any
// to be sent, none waits for the arrival of the one before it.
// Thread safety: any thread; credit() and close() are called by the link's handlers and only take a short lock.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "traces/base/mutex.h"
#include "transport/copy/chunks.h"
#include "transport/link/base/link.h"
#include "transport/protocol/slots.h"

namespace gt::virt {

class BulkSender {
 public:
  // Before the first transfer.
  void open(wire::Link& link, wire::SegmentId segment, uint32_t slots, uint64_t slot_bytes);
  void credit(const std::vector<uint32_t>& slots) { slots_.credit(slots); }
  void close() { slots_.close(); }

  using Done = std::function<void()>;
  // Sends what is packed at `from` as the chunks of `transfer`, of chunk_bytes(all of it) each; `done` runs when the
  // memory may change again (or the link is closed), on a thread of ours. Never waits; where the system refuses that
  // thread, the transfer waits for the next one to be handed in, which asks for it again.
  void stream(uint32_t transfer, const copy::Region& part, uint64_t element, const void* from, Done done);
  // Of a transfer, either way: small enough that the device is busy with most of it while the rest is on its way, and
  // no smaller, because each chunk costs both ends.
  uint32_t chunk_bytes(uint64_t transfer_bytes) const;

 private:
  struct Job {
    uint32_t transfer = 0;
    copy::Region part;
    uint64_t element = 1;
    const uint8_t* from = nullptr;
    Done done;
  };
  struct Sent {
    std::vector<wire::Ticket> tickets;
    Done done;
  };
  static void* run(void* self);
  void loop();
  void send(Job& job);
  void retire();

  wire::Link* link_ = nullptr;
  wire::Slots slots_;
  Mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_ GT_GUARDED_BY(mutex_);
  bool started_ GT_GUARDED_BY(mutex_) = false;
  std::deque<Sent> sent_;  // of the thread: on their way
};

}  // namespace gt::virt
