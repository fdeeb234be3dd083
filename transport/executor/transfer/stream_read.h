// Reads that are put to the client, or to a peer, in chunks: the device fills one pinned slot while others are on their
// way. A client in this node maps the slots, and copies chunks out of them itself.
//
//   device   fill 0 | fill 1 | fill 2 | ...       a queue of our own, once the place in the client's queue is reached
//   link            | put 0  | put 1  | ...       slots are free again when their put is over
//
// The client's queue goes on when the device is done; the client is told when the bytes are there.
// Thread safety: all functions; the work is done by one thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <optional>

#include "traces/base/mutex.h"
#include "transport/chunks/packing.h"
#include "transport/copy/chunks.h"
#include "transport/executor/base/event_waiter.h"
#include "transport/executor/transfer/part_transfer.h"
#include "transport/executor/transfer/pins.h"
#include "transport/staging/queue_placeholder.h"

namespace gt::chunks {
class ChunkPacker;
}

namespace gt::exec {

// Where the chunks of a read go. One thread.
class Sink {
 public:
  virtual ~Sink() = default;
  // The memory stays until wait(), and so does `packed`, in which it may be put in another form. Nothing: there is
  // nobody any more.
  virtual std::optional<wire::Ticket> put(const void* memory, const copy::Chunks::Chunk& chunk,
                                          chunks::ChunkPacker& packer, Bytes& packed) = 0;
  virtual bool wait(wire::Ticket ticket) = 0;
  // No more chunks come, although some are missing.
  virtual void fail() = 0;
};

// Into memory that the client exposed; packed where it wants that and it pays.
class ToClient final : public Sink {
 public:
  ToClient(Session& session, const wire::Read& read)
      : session_(session), to_{read.segment, read.offset}, transfer_(read.transfer), packing_(read.packing) {}
  std::optional<wire::Ticket> put(const void* memory, const copy::Chunks::Chunk& chunk, chunks::ChunkPacker& packer,
                                  Bytes& packed) override;
  bool wait(wire::Ticket ticket) override;
  void fail() override {}  // the event says so

 private:
  wire::Ticket put_noticed(wire::Link& link, const void* memory, const copy::Chunks::Chunk& chunk,
                           chunks::ChunkPacker& packer, Bytes& packed);

  Session& session_;  // whose thread this is
  wire::Address to_;
  uint32_t transfer_, next_ = 0;  // chunk
  chunks::Packing packing_;
};

struct ReadJob {
  copy::Chunks chunks;
  Memory memory;  // with a reference of its own
  std::unique_ptr<Sink> to;
  staging::QueuePlaceholder placeholder;
  Awaited told;  // the client's event: told when the bytes are there
};

class Reader {
 public:
  Reader(std::shared_ptr<Session> session, std::shared_ptr<EventWaiter> event_waiter, std::shared_ptr<Queue> queue);
  ~Reader();

  // Makes the slots and starts the thread of `self`. False: refused.
  bool open(const std::shared_ptr<Reader>& self, cl_context context);
  // A job will be posted.
  void expect();
  // The job's turn has come. `error`: it never will; nothing is moved. REQUIRES: expect() was called for it.
  void post(std::unique_ptr<ReadJob> job, cl_int error);
  // The thread ends when the jobs are done, those that are expected included.
  void close();

 private:
  struct Work {
    std::unique_ptr<ReadJob> job;
    uint64_t started = 0, filled = 0, sent = 0;  // chunks
    cl_int error = CL_SUCCESS;
    bool left = false;  // the device is done with it
  };
  struct Slot {
    Work* work = nullptr;
    cl_event filled = nullptr;
    wire::Ticket ticket = 0;
    Bytes packed;  // on the link in the place of the slot
  };

  bool make_slots(cl_context context);
  void serve();
  bool start_chunk();
  void fail(Work& work, cl_int error);
  void send_oldest();
  void retire_oldest();
  void end_finished();
  void leave_device(Work& work);
  void* memory(uint64_t slot) const { return static_cast<char*>(slots_) + slot % count_ * slot_bytes_; }

  std::shared_ptr<Session> session_;
  std::shared_ptr<EventWaiter> event_waiter_;
  std::shared_ptr<Queue> queue_;
  wire::SegmentId segment_ = 0;  // of the slots
  void* slots_ = nullptr;
  std::unique_ptr<Pin> pin_;
  uint64_t count_ = 0, slot_bytes_ = 0;

  Mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work> posted_ GT_GUARDED_BY(mutex_);
  uint64_t expected_ GT_GUARDED_BY(mutex_) = 0;  // jobs
  bool closed_ GT_GUARDED_BY(mutex_) = false;

  // Of the thread. Slots are used in turn: [free_, fill_) are on the link, [fill_, next_) with the device.
  std::deque<Work> work_;
  std::vector<Slot> ring_;
  uint64_t free_ = 0, fill_ = 0, next_ = 0;
  const std::unique_ptr<chunks::ChunkPacker> packer_;
};

// When the place in the client's queue is reached, the job is the reader's.
class BeginRead final : public Then {
 public:
  BeginRead(std::shared_ptr<Reader> reader, std::unique_ptr<ReadJob> job)
      : reader_(std::move(reader)), job_(std::move(job)) {
    reader_->expect();
  }
  ~BeginRead() override {
    if (job_) reader_->post(std::move(job_), CL_OUT_OF_RESOURCES);  // nobody waited for its turn
  }
  void over(cl_int status, News&) override {
    reader_->post(std::move(job_), status < 0 ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_SUCCESS);
  }

 private:
  std::shared_ptr<Reader> reader_;
  std::unique_ptr<ReadJob> job_;
};

}  // namespace gt::exec
