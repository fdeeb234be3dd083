// Reads whose chunks may come compressed: such a chunk comes to the place of what it becomes, which it is smaller than,
// and is unpacked there.
//
//   link, data      chunk ─► its place in the program's memory ─► arrived(): unpacked from a copy
//   link, control   Completed ─► told(): the event goes on when the last chunk has arrived, too
//
// Nothing is promised between the two; so the event's completion is kept here where it comes before the bytes. After
// told() of a failure, forget() or close() nothing is written to the memory any more.
// Thread safety: all functions; arrived() by one thread at a time, which unpacks with no lock held.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <optional>

#include "traces/base/mutex.h"
#include "transport/chunks/piece_pack.h"
#include "transport/copy/chunks.h"
#include "transport/protocol/chunk_messages.h"

namespace gt::virt {

class PackedReads {
 public:
  // The read is about to be asked for; packed, its bytes go to `to`.
  void expect(uint32_t transfer, wire::ObjectId event, uint8_t* to, const copy::Chunks& chunks);
  // A chunk's notice. `over`: with it the event is.
  struct Arrival {
    bool sound = true;  // false: the executor sent what is no chunk of that read
    std::optional<wire::Completion> over;
  };
  Arrival arrived(wire::Notice notice, uint64_t bytes);
  // The executor says that an event is over. True: not before its bytes are here.
  bool told(const wire::Completion& completion);
  // The read has failed before it began.
  void forget(wire::ObjectId event);
  void close();

 private:
  struct Read {
    wire::ObjectId event = 0;
    uint8_t* to = nullptr;
    copy::Chunks chunks;
    uint64_t arrived = 0;  // chunks
    std::optional<wire::Completion> told;
  };
  using Reads = std::map<uint32_t, Read>;

  Reads::iterator find(wire::ObjectId event) GT_REQUIRES(mutex_);
  void remove(UniqueLock& lock, wire::ObjectId event) GT_REQUIRES(mutex_);
  bool unpack(ByteView packed, uint8_t* to, uint64_t bytes);

  std::atomic<size_t> count_{0};  // of reads_
  Mutex mutex_;
  std::condition_variable changed_;
  Reads reads_ GT_GUARDED_BY(mutex_);                        // by transfer
  std::optional<uint32_t> unpacking_ GT_GUARDED_BY(mutex_);  // a transfer, which stays meanwhile
  bool closed_ GT_GUARDED_BY(mutex_) = false;
  // Of who calls arrived().
  std::optional<chunks::PiecePacker> packer_;
  Bytes packed_;
};

}  // namespace gt::virt
