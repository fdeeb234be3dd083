// Which pieces of a chunk are sent by name: those that the executor has, as far as it has told.
//
// It tells of what it has kept when it is first asked, which is when the link has turned out to be slow, and of what
// it keeps from then on. That it has a piece is believed, not known: who sends one by name keeps the bytes until the
// executor has said that it needs none of them.
// Thread safety: kept() and close() from any thread; everything else from the one that sends.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <optional>
#include <unordered_set>
#include <vector>

#include "optimizer-rt/client/session/chunk_account.h"
#include "optimizer-rt/client/session/chunk_naming.h"
#include "traces/base/mutex.h"
#include "transport/protocol/chunk_messages.h"

namespace gt::virt {

class ChunkNamer {
 public:
  // Chunks smaller than this are not worth a name.
  static constexpr uint64_t LeastBytes = chunks::PieceBytes / 2;

  using Ask = std::function<void(const wire::Recall&)>;  // sends it; may throw
  void open(const wire::ChunkOffer& offer, const ChunkNaming& naming, Ask ask);
  void kept(const wire::Kept& kept);
  void close();

  ChunkAccount& account() { return account_; }
  // The executor is asked what it has, and has not said.
  bool is_asking() const { return asked_ && !answered_; }

  // Asks it, if that is due before such a chunk is sent. Whether it has been.
  bool asks(uint64_t bytes);
  void wait_for_answer(std::chrono::microseconds longest);

  struct Plan {
    std::vector<std::optional<chunks::Name>> names;  // of each piece; none: it is given. Empty: all are
    bool keep = false;
    uint64_t named_bytes = 0;
  };
  Plan plan(ByteView chunk);
  // The executor does not have it.
  void lacks(const chunks::Name& name, uint64_t bytes);

 private:
  bool has_answer();
  void ask();
  std::optional<chunks::Name> known_name(ByteView piece);

  ChunkAccount account_{DedupMode::Never};
  ChunkNaming naming_;
  Ask ask_;
  std::optional<chunks::PieceNamer> namer_;
  bool asked_ = false;
  std::atomic<bool> answered_{false};

  Mutex mutex_;
  std::condition_variable changed_;
  bool closed_ GT_GUARDED_BY(mutex_) = false;
  uint64_t room_ GT_GUARDED_BY(mutex_) = 0;
  std::unordered_set<chunks::ShortName> known_ GT_GUARDED_BY(mutex_);
};

}  // namespace gt::virt
