// The client's half of large writes: chunks go into free slots of the executor's inbox, their pieces as they are, by
// name, where the executor has them (chunk_namer.h), or compressed, where that pays (transport/chunks/chunk_packer.h).
//
// Transfers go one after the other, in the order in which they were handed in (slots.h says why). While there are any
// to be sent, none waits for the arrival of the one before it.
// Thread safety: any thread; credit(), kept(), filled() and close() are called by the link's handlers and only take a
// short lock.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <optional>
#include <unordered_map>
#include <vector>

#include "optimizer-rt/client/session/chunk_namer.h"
#include "traces/base/mutex.h"
#include "transport/chunks/chunk_packer.h"
#include "transport/copy/chunks.h"
#include "transport/link/base/link.h"
#include "transport/protocol/slots.h"

namespace gt::virt {

class BulkSender {
 public:
  // Before the first transfer.
  void open(wire::Link& link, wire::SegmentId segment, uint32_t slots, uint64_t slot_bytes);
  // Chunks may go by name. Likewise.
  void open_names(const wire::ChunkOffer& offer, const ChunkNaming& naming, ChunkNamer::Ask ask);
  // Chunks may go compressed. Likewise.
  void open_packing(const wire::ChunkOffer& offer, chunks::Packing packing);
  void credit(const std::vector<uint32_t>& slots) { slots_.credit(slots); }
  void kept(const wire::Kept& kept) { namer_.kept(kept); }
  void filled(wire::Filled filled);
  void close();

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
  // Ours, on its way: recipes and packed pieces.
  struct Under {
    wire::Ticket ticket = 0;
    Bytes bytes;
  };
  struct Sent {
    std::vector<wire::Ticket> tickets;
    size_t unfilled = 0;  // chunks by name of which the executor may still want bytes
    bool whole = false;   // all chunks are on their way
    Done done;
  };
  struct Chunk {
    uint32_t transfer = 0, slot = 0;
    ByteView bytes;
  };
  struct ByName {
    Sent* sent = nullptr;
    Chunk chunk;
    std::vector<std::optional<chunks::Name>> names;
  };
  static void* run(void* self);
  void loop();
  bool is_wanted() GT_REQUIRES(mutex_);
  void send(Job& job);
  bool take_slot(uint32_t& slot);
  void send_chunk(const Chunk& chunk, Sent& sent);
  void send_timed(const Chunk& chunk, bool keep, Sent& sent);
  void await_names(size_t bytes);
  std::vector<size_t> pack(const Chunk& chunk, const ChunkNamer::Plan& plan, Bytes& packed);
  void send_by_recipe(const Chunk& chunk, ChunkNamer::Plan&& plan, const std::vector<size_t>& sizes, Bytes&& packed,
                      Sent& sent);
  void put(const Chunk& chunk, size_t begin, size_t end, Sent& sent);
  void put_last(const Chunk& chunk, size_t begin, size_t end, uint32_t flags, Sent& sent);
  void answer_filled();
  void answer(const wire::Filled& filled);
  void retire();
  Bytes take_spare();
  bool has_jobs();
  bool is_closed();

  wire::Link* link_ = nullptr;
  wire::Slots slots_;
  wire::ChunkOffer offer_;
  Mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_ GT_GUARDED_BY(mutex_);
  std::deque<wire::Filled> filled_ GT_GUARDED_BY(mutex_);
  bool started_ GT_GUARDED_BY(mutex_) = false, closed_ GT_GUARDED_BY(mutex_) = false;
  // Of the thread.
  ChunkNamer namer_;
  chunks::ChunkPacker packer_;
  std::deque<Under> under_way_;
  std::vector<Bytes> spare_;                      // for packed pieces
  std::list<Sent> sent_;                          // on their way
  wire::Ticket last_put_ = 0;                     // of a chunk's bytes
  std::unordered_map<uint32_t, ByName> by_name_;  // by slot
};

}  // namespace gt::virt
