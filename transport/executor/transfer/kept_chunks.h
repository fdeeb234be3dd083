// Chunks of a client's writes that are kept for when they are sent again, and chunks that come by name or compressed.
//
//   link    chunk ─────────────► Inbox                       at once; then, when the client says that it may be kept,
//                                  └─ our thread names its pieces and adds them to the store: Kept
//           recipe ─► our thread: pieces from the store or unpacked into the slot, Filled ─► Inbox
//                                  └─ some are not there: the client puts them, and then ─► Inbox
//
// The chunks of a transfer reach the inbox in the order in which they came: behind one that waits for pieces, others of
// its transfer do. Nothing waits in the link's threads, and a chunk that is being kept is on its way to the device.
// The store is the client's owner's: made by who has his key, so there is nothing of others' to be named.
// Invariant: a slot has at most one chunk that has not reached the inbox, so tasks are few, whatever a client sends.
// Thread safety: all functions.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>

#include "transport/chunks/chunk_store.h"
#include "transport/chunks/piece_pack.h"
#include "transport/executor/transfer/stream_write.h"
#include "transport/protocol/chunk_messages.h"

namespace gt::exec {

class KeptChunks : public std::enable_shared_from_this<KeptChunks> {
 public:
  KeptChunks(std::shared_ptr<Session> session, std::shared_ptr<Inbox> inbox)
      : session_(std::move(session)), inbox_(std::move(inbox)) {}

  // Exposes the room for recipes. REQUIRES: the inbox is open. Where chunks can come neither way: does nothing.
  Status open(wire::Link& link);
  wire::ChunkOffer offer() const { return offer_; }  // constant once open
  // False: what the client says is wrong.
  bool recall(const wire::Recall& recall);
  bool arrive(wire::Notice notice, uint64_t bytes);
  void close();

 private:
  using Mask = uint64_t;  // bit n: piece n of a chunk
  struct Task {
    enum class Kind : uint8_t { Recall, Chunk, Complete, Keep } kind = Kind::Chunk;
    uint32_t slot = 0, transfer = 0, flags = 0;
    uint64_t bytes = 0;  // that arrived
    Mask named = 0;      // Keep: pieces that are there already
    chunks::Key key{};   // Recall
  };
  // A chunk that waits for pieces.
  struct Incomplete {
    uint32_t transfer = 0, flags = 0;
    uint64_t bytes = 0;
    Mask named = 0;
  };

  bool complete(const Task& task);
  bool start_thread() GT_REQUIRES(mutex_);
  void run();
  void run_all();
  bool do_task(const Task& task);
  void do_recall(const Task& task);
  bool do_chunk(const Task& task);
  bool do_complete(const Task& task);
  void do_keep(const Task& task);
  bool fill(const Task& task);
  bool unpack(const wire::Piece& piece, std::span<uint8_t> to);
  bool deliver(const Task& task, uint64_t bytes, Mask named);
  void over(uint32_t transfer);
  Result<chunks::ChunkStore> open_store(const chunks::Key& key);

  const std::shared_ptr<Session> session_;
  const std::shared_ptr<Inbox> inbox_;
  wire::ChunkOffer offer_;
  uint8_t* recipes_ = nullptr;

  Mutex mutex_;
  std::condition_variable changed_;
  bool closed_ GT_GUARDED_BY(mutex_) = false, recalled_ GT_GUARDED_BY(mutex_) = false;
  bool started_ GT_GUARDED_BY(mutex_) = false;  // the thread
  std::deque<Task> tasks_ GT_GUARDED_BY(mutex_);
  size_t to_keep_ GT_GUARDED_BY(mutex_) = 0;                     // tasks of that kind
  std::vector<bool> queued_ GT_GUARDED_BY(mutex_);               // slots whose chunk is not for the inbox yet
  std::vector<bool> asked_ GT_GUARDED_BY(mutex_);                // of those, the ones that wait for pieces
  std::map<uint32_t, size_t> under_way_ GT_GUARDED_BY(mutex_);   // chunks that the inbox does not have, by transfer

  // Of the thread.
  std::optional<chunks::ChunkStore> store_;
  std::optional<chunks::PieceNamer> namer_;
  std::optional<chunks::PiecePacker> packer_;
  bool may_name_ = false;  // Recall has come
  std::map<uint32_t, Incomplete> incomplete_;         // by slot
  std::map<uint32_t, std::deque<Task>> blocked_;      // by transfer, behind one of those
  Bytes piece_;  // what is named, stored or unpacked: in a slot it may change meanwhile
};

}  // namespace gt::exec
