// The client's half of large writes: chunks go into free slots of the executor's inbox.
//
// Transfers go one after the other, in the order in which they were handed in: the executor frees slots in the order of
// its commands, so a later transfer must not take what an earlier one needs.
// Thread safety: any thread; credit() and close() are called by the link's handlers and only take a short lock.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "transport/link/link.h"
#include "transport/protocol/chunks.h"

namespace gt::virt {

class Outbox {
 public:
  // Before the first transfer.
  void open(wire::Link& link, wire::SegmentId segment, uint32_t slots, uint64_t slot_bytes);
  void credit(const std::vector<uint32_t>& slots);
  void close();

  using Done = std::function<void()>;
  // Sends what is packed at `from` as the chunks of `transfer`; `done` runs when the memory may change again (or the
  // link is closed), on a thread of ours.
  void stream(uint32_t transfer, const wire::Part& part, uint64_t element, const void* from, Done done);

 private:
  struct Job {
    uint32_t transfer = 0;
    wire::Part part;
    uint64_t element = 1;
    const uint8_t* from = nullptr;
    Done done;
  };
  static void* run(void* self);
  void loop();
  void send(const Job& job);
  bool take_slot(uint32_t& slot);

  wire::Link* link_ = nullptr;
  wire::SegmentId segment_ = 0;
  uint64_t slot_bytes_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<uint32_t> free_;
  std::deque<Job> jobs_;
  bool closed_ = false, started_ = false;
};

}  // namespace gt::virt
