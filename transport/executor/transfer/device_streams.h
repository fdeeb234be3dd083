// What transfers need of one device in one context: queues of our own for streams, and pinned memory.
// That takes 10 ms and more, so a thread makes it ahead where it is likely to be needed; who needs it before waits for
// the rest.
// Thread safety: none; the control channel uses it. What it holds is shared with transfers under way.
#pragma once

#include <atomic>
#include <unordered_map>

#include "transport/executor/base/event_waiter.h"
#include "transport/executor/transfer/bounce_buffer.h"
#include "transport/executor/transfer/pinned_ring.h"
#include "transport/executor/transfer/pins.h"
#include "transport/executor/transfer/stream_read.h"
#include "transport/executor/transfer/stream_write.h"

namespace gt::exec {

class DeviceStreams : public std::enable_shared_from_this<DeviceStreams> {
 public:
  DeviceStreams(std::shared_ptr<Session> session, std::shared_ptr<EventWaiter> event_waiter, cl_context context,
                cl_device_id device);
  ~DeviceStreams();
  DeviceStreams(const DeviceStreams&) = delete;
  DeviceStreams& operator=(const DeviceStreams&) = delete;

  bool is_of(cl_context context) const { return context_ == context; }
  bool is_at(const Queue& queue) const { return context_ == queue.context && device_ == queue.device; }

  // What streams need is made from now on, and the ring pinned, by a thread that keeps `inbox` and this alive. Once.
  void prepare(std::shared_ptr<Inbox> inbox, const BounceBuffer& ring);

  // A queue for chunks of writes, and the inbox pinned: the client's, or a peer's. nullptr: the driver refused.
  std::shared_ptr<Queue> write_queue(void* inbox, size_t bytes);
  // nullptr: the driver refused.
  std::shared_ptr<PinnedRing> small_memory();
  // nullptr: no memory, no thread.
  std::shared_ptr<Reader> reader();

 private:
  std::shared_ptr<Queue> make_queue();
  void make_write_queue(void* inbox, size_t bytes);
  void make_reader();

  std::shared_ptr<Session> session_;
  std::shared_ptr<EventWaiter> event_waiter_;
  cl_context context_;  // kept alive
  cl_device_id device_;
  std::shared_ptr<Queue> write_queue_;
  std::shared_ptr<PinnedRing> small_memory_;
  bool small_memory_wanted_ = false;
  std::shared_ptr<Reader> reader_;
  bool prepared_ = false;
  std::atomic<bool> preparing_{false};  // the thread has the queue, the reader and the inboxes
  std::unordered_map<void*, std::unique_ptr<Pin>> inboxes_;
  std::unique_ptr<Pin> ring_;  // of that thread
};

}  // namespace gt::exec
