// The data channel inside a node: puts and gets by loads and stores where memory is shared, by records in a ring where
// it is not.
//
//   to shared memory of the peer ........ the caller copies; a notice goes through the ring
//   from shared memory of ours .......... a Fetch record: the peer's data thread copies it out
//   neither ............................. Put records that carry the bytes
// and gets the other way round. A record is taken from the ring when what it asks for is done, so the peer's position
// in the ring tells which puts are over.
//
// The link itself does what needs no more than a copy by the caller: gets, and puts without a notice while may_store().
// Puts are carried out in order: while one is under way, later ones queue behind it.
// Thread safety: all functions; work() by the channel's thread.
#pragma once

#include <condition_variable>
#include <deque>

#include "traces/base/mutex.h"
#include "transport/link/base/link_life.h"
#include "transport/link/node/shm_owner.h"
#include "transport/link/node/shm_region.h"
#include "transport/link/node/shm_turn.h"

namespace gt::wire {

class ShmData {
 public:
  ShmData(LinkLife& life, ShmOwner& owner, RingWriter out, RingReader in, Bell& mine, Bell& peers)
      : life_(life), owner_(owner), out_(out), in_(in), turn_(mine), peers_(peers) {}

  // Nothing is under way that a put must come after.
  bool may_store() const { return puts_open_.load(std::memory_order_acquire) == 0; }
  Ticket put(const void* from, Address to, size_t bytes, std::optional<Notice> notice);
  Ticket get(void* to, Address from, size_t bytes);
  bool test(Ticket ticket);
  Status wait(Ticket ticket);
  Status flush();
  bool all_taken();
  bool awaits();

  Result<bool> work();
  ShmTurn& turn() { return turn_; }  // always the channel's thread's
  bool seems_idle() const { return in_.seems_empty(); }
  bool idle(Idle) { return false; }
  // The channel's thread has ended: nothing of the program's memory is touched any more.
  void set_quiet();

 private:
  enum Record : uint32_t { Put = 1, Fetch = 2, Get = 3, Got = 4 };
  struct Carrier {  // what every record begins with
    uint32_t segment = 0;     // of who takes the record. Get: what is read. Got: unused
    uint32_t has_notice = 0;
    uint64_t offset = 0;      // in the segment, of the whole put. Got: in what was asked for
    uint64_t bytes = 0;
    uint64_t notice = 0, total = 0;
    uint64_t id = 0;          // Get, Got: the get's number. Put: how much of it came before
    // Fetch: of who made the record. Get: where the bytes may be stored; segment 0: nowhere
    uint32_t from_segment = 0, zero = 0;
    uint64_t from_offset = 0;
  };
  enum class Way : uint8_t { Direct, Carry, Single, Answer };
  struct Operation {
    Way way = Way::Carry;
    Record record = Put;         // Single
    const char* from = nullptr;  // Direct, Carry
    char* to = nullptr;          // Direct
    size_t done = 0;
    uint64_t put = 0;  // number
    Carrier carrier;
  };
  struct Mark {
    uint64_t end = 0, put = 0;
  };
  struct Wanted {
    char* to = nullptr;
    size_t bytes = 0, done = 0;
    bool direct = false;  // the peer stores it
  };
  static constexpr size_t MostOperations = 65536;  // that a peer's gets may make

  bool is_over(Ticket ticket) const;
  void reap() GT_REQUIRES(mutex_);
  Status pump() GT_REQUIRES(mutex_);
  Result<bool> start_next(Operation& operation) GT_REQUIRES(mutex_);
  Result<bool> start_direct(Operation& operation) GT_REQUIRES(mutex_);
  Result<bool> carry(Operation& operation) GT_REQUIRES(mutex_);
  Result<bool> answer(Operation& operation) GT_REQUIRES(mutex_);
  Result<bool> write_record(Record kind, const Carrier& carrier, ByteView bytes = {}) GT_REQUIRES(mutex_);
  Status take(const RecordHeader& record);
  Status take_put(const Carrier& carrier, size_t bytes);
  Status take_fetch(const Carrier& carrier);
  Status take_get(const Carrier& carrier);
  Status take_got(const Carrier& carrier, size_t bytes);
  Status store(const Carrier& carrier, Address from);

  LinkLife& life_;
  ShmOwner& owner_;
  Mutex mutex_;
  std::condition_variable changed_;
  RingWriter out_ GT_GUARDED_BY(mutex_);
  std::deque<Operation> operations_ GT_GUARDED_BY(mutex_);
  std::deque<Mark> marks_ GT_GUARDED_BY(mutex_);     // puts in the ring, in order
  std::deque<Wanted> wanted_ GT_GUARDED_BY(mutex_);  // the first has number gets_over_ + 1
  uint64_t puts_made_ GT_GUARDED_BY(mutex_) = 0, gets_made_ GT_GUARDED_BY(mutex_) = 0;
  bool quiet_ GT_GUARDED_BY(mutex_) = false, wrote_ GT_GUARDED_BY(mutex_) = false;
  std::atomic<uint64_t> puts_over_{0}, gets_over_{0}, puts_open_{0};
  RingReader in_;
  ShmTurn turn_;
  Bell& peers_;
};

}  // namespace gt::wire
