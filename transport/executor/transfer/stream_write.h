// Writes whose bytes come in chunks, into slots of the inbox: each goes to the device while the next is on its way.
//
//   link     put 0 | put 1 | put 2 | ...            slots of pinned memory
//   device         | take 0 | take 1 | ...          a queue of our own, once the place in the client's queue is reached
//
// A slot is the client's again (Credit) when the device has taken it. A client that is ahead of the device waits for
// that. But transfers whose turn has not come must not keep slots from others, whose turn may have to come first: when
// more than half are taken, a thread of the inbox moves the chunks of such transfers to ordinary memory; not at once,
// because the device fetches them from there at a fifth of the speed, but when all slots are taken and it fetches
// nothing for some milliseconds, or when their turn does not come for some more. Where a client may not hold more of
// that memory (InFlight) they stay in their slots until there is room; the thread gives up the oldest such transfer if
// all slots are taken and nothing comes of waiting.
// Thread safety: all functions; an inbox's after open(), which comes before its link starts. Locks: a job's, then the
// inbox's or the queue's; none while sending.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "traces/base/mutex.h"
#include "transport/copy/chunks.h"
#include "transport/executor/base/event_waiter.h"
#include "transport/executor/transfer/part_transfer.h"
#include "transport/staging/queue_placeholder.h"

namespace gt::exec {

class Inbox;

// A chunk that has arrived.
struct Arrived {
  uint32_t slot = 0;
  uint64_t bytes = 0;
  std::unique_ptr<uint8_t[]> moved;  // nullptr: it is in its slot
};

// One transfer. What fails goes on taking chunks, and drops them: they are on their way already.
class WriteJob : public std::enable_shared_from_this<WriteJob> {
 public:
  // One that has failed before it began: its `bytes` are dropped.
  WriteJob(std::shared_ptr<Inbox> inbox, uint64_t bytes)
      : inbox_(std::move(inbox)), error_(CL_INVALID_OPERATION), left_(bytes), ended_(true) {}
  // `queue` is ours. Takes over the placeholder, which is open, and a reference to `memory`.
  WriteJob(std::shared_ptr<Inbox> inbox, std::shared_ptr<Queue> queue, Memory memory, const copy::Chunks& chunks,
           const staging::QueuePlaceholder& placeholder)
      : inbox_(std::move(inbox)),
        queue_(std::move(queue)),
        memory_(std::move(memory)),
        chunks_(chunks),
        placeholder_(placeholder),
        left_(chunks.bytes()) {}

  enum class Arrival : uint8_t { Wrong, More, Last };
  Arrival arrive(Arrived chunk);
  // The place in the client's queue is reached, or never will be (error).
  void begin(cl_int error);
  // It ends with this error, if chunks are missing or its turn has not come; they are dropped, also those to come.
  void give_up(cl_int error);
  // Chunks that wait in slots go to ordinary memory as far as there is some (`move`). False: some are left in slots.
  bool leave_slots(bool move);

 private:
  class Work;  // the lock, and what is to be said when it is released
  void refuse(cl_int error) GT_REQUIRES(mutex_);
  void start(Arrived chunk) GT_REQUIRES(mutex_);
  void taken(Arrived chunk, cl_int status);
  void drop(Arrived& chunk) GT_REQUIRES(mutex_);
  bool move(Arrived& chunk) GT_REQUIRES(mutex_);
  void end_if_done() GT_REQUIRES(mutex_);

  const std::shared_ptr<Inbox> inbox_;
  const std::shared_ptr<Queue> queue_;
  Memory memory_;
  const std::optional<copy::Chunks> chunks_;
  staging::QueuePlaceholder placeholder_;

  Mutex mutex_;
  bool begun_ GT_GUARDED_BY(mutex_) = false;
  cl_int error_ GT_GUARDED_BY(mutex_) = CL_SUCCESS;
  uint64_t left_ GT_GUARDED_BY(mutex_);  // bytes that have not arrived
  // Chunks.
  uint64_t arrived_ GT_GUARDED_BY(mutex_) = 0, started_ GT_GUARDED_BY(mutex_) = 0, under_way_ GT_GUARDED_BY(mutex_) = 0;
  bool ended_ GT_GUARDED_BY(mutex_) = false;  // the client's queue goes on
  std::deque<Arrived> waiting_ GT_GUARDED_BY(mutex_);
  std::vector<uint32_t> free_ GT_GUARDED_BY(mutex_);  // slots to be given back
};

class Inbox {
 public:
  // `sender`: who fills the slots, and gets credit for them.
  Inbox(std::shared_ptr<Session> session, std::shared_ptr<EventWaiter> event_waiter, MessageSender& sender)
      : session_(std::move(session)), event_waiter_(std::move(event_waiter)), sender_(sender) {}

  // Exposes the slots. Without slots: does nothing.
  Status open(wire::Link& link);
  wire::SegmentId segment() const { return segment_; }
  uint32_t slots() const { return slots_; }
  uint64_t slot_bytes() const { return session_->options.slot_bytes; }
  void* base() const { return base_; }
  size_t bytes() const { return slots() * slot_bytes(); }

  // The transfer's chunks, those that came before it too, go to the job. False: the name is taken, or chunks are wrong.
  bool add(uint32_t transfer, const std::shared_ptr<WriteJob>& job);
  // A chunk's notice. False: it names no slot that the client may use, or no chunk of a transfer.
  bool arrive(wire::Notice notice, uint64_t bytes);
  void close();

  // Somebody else reads the slot's chunk: it is given back when he lets go, too. Before the chunk arrives here.
  void hold(uint32_t slot);
  void let_go(uint32_t slot);

  void* memory(uint32_t slot) const { return static_cast<char*>(base_) + slot * slot_bytes(); }
  bool is_short();  // of free slots
  // The job keeps chunks in slots although these are short. `self`: this inbox. False: there is no thread to be had.
  bool keep(const std::shared_ptr<Inbox>& self, const std::shared_ptr<WriteJob>& job);
  void device_took_one() { ++device_took_; }
  // The client may use them again.
  void give_back(std::span<const uint32_t> slots);

  Session& session() { return *session_; }
  EventWaiter& event_waiter() { return *event_waiter_; }

 private:
  // A transfer that holds slots although they are short, and how often the thread has looked at it.
  struct Kept {
    std::shared_ptr<WriteJob> job;
    unsigned looks = 0;
  };
  // Whether somebody beside its transfer has a slot.
  enum class Held : uint8_t { No, Both, Last };  // Last: the transfer has let go
  void relieve();
  void relieve_once(InFlight::Watch& watch);
  void free_slots(const std::vector<uint32_t>& slots) GT_REQUIRES(mutex_);

  std::shared_ptr<Session> session_;
  std::shared_ptr<EventWaiter> event_waiter_;
  MessageSender& sender_;
  void* base_ = nullptr;
  wire::SegmentId segment_ = 0;
  uint32_t slots_ = 0;  // constant once open, as those before

  Mutex mutex_;
  bool closed_ GT_GUARDED_BY(mutex_) = false;
  std::vector<bool> taken_ GT_GUARDED_BY(mutex_);
  std::vector<Held> held_ GT_GUARDED_BY(mutex_);
  size_t taken_count_ GT_GUARDED_BY(mutex_) = 0;
  std::map<uint32_t, std::shared_ptr<WriteJob>> jobs_ GT_GUARDED_BY(mutex_);
  std::map<uint32_t, std::vector<Arrived>> early_ GT_GUARDED_BY(mutex_);
  std::deque<Kept> keeping_ GT_GUARDED_BY(mutex_);  // in the order of keep(), each job once
  bool relieving_ GT_GUARDED_BY(mutex_) = false;  // there is a thread for them
  std::condition_variable needed_;  // that thread is
  uint64_t returned_ GT_GUARDED_BY(mutex_) = 0;  // slots, ever
  std::atomic<uint64_t> device_took_{0};  // chunks, ever

  // Of that thread: what it saw when it looked last, and how often in a row the device had taken none.
  uint64_t returned_before_ = 0, took_before_ = 0;
  unsigned quiet_ = 0;
};

}  // namespace gt::exec
