// What watches over a link inside a node: the socket (shm_plug.h) with its words, the peer's process, signs of life.
//
// A thread does, from before the link starts: the peer may share memory at once. It never runs handlers, so what is
// asked of it (map this, let go of that) is answered at once.
// Thread safety: all functions.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <optional>

#include "traces/base/mutex.h"
#include "transport/link/base/awake.h"
#include "transport/link/base/link_life.h"
#include "transport/link/base/link_thread.h"
#include "transport/link/node/remote_mapping.h"
#include "transport/link/node/shm_plug.h"
#include "transport/link/node/shm_region.h"
#include "transport/link/node/shm_withdrawals.h"
#include "transport/link/node/shm_word.h"

namespace gt::wire {

// Who is at the ends, and what they share.
struct ShmSession {
  Fd socket, process;  // of the peer
  ShmResume resume;
  std::shared_ptr<ShmRegion> region;
  int side = ServerSide;
  uint64_t dead_ns = 0;
};

class ShmWatch {
 public:
  // `awaits`: the peer has something to do for us. Where the peer's segments go: `peer`, and out by `withdrawals`.
  ShmWatch(LinkLife& life, ShmSession session, RemoteMapping& peer, ShmWithdrawals& withdrawals,
           std::function<bool()> awaits);

  Status start();
  void stop();  // the life has ended: takes leave; the thread ends, and nobody waits any more
  void join() { thread_.join(); }
  void expect_end() { plug_.expect_end(); }

  // Of a segment of ours. True: the peer maps it. Waits for the answer.
  Result<bool> share(SegmentId segment, int memory, uint64_t offset, uint64_t bytes);
  // When it returns, the peer has let go of a segment that it maps, or is gone.
  void withdraw(SegmentId segment);
  // Without a socket it is said when there is another one.
  Status say(const Word& word, int fd = -1);

 private:
  struct Asked {
    Word word;
    int fd;  // that goes with it
    std::optional<bool> answer;
  };

  Result<bool> ask(const Word& word, int fd);
  bool wait_awake(UniqueLock& lock, const std::function<bool()>& answered);
  void ask_again();

  void watch();
  void look_at_socket(const OwnFd& socket, short socket_events, short process_events);
  void plug_in_again(short handover_events);
  void beat();
  bool take_words(int socket);
  Status take_word(const Word& word, const Fd& fd);
  Status take_segment(const Word& word, const Fd& fd);
  void take_answer(const Word& word);

  LinkLife& life_;
  RemoteMapping& peer_;
  ShmWithdrawals& withdrawals_;
  const std::function<bool()> awaits_;
  const int side_;
  const uint64_t dead_ns_, heartbeat_ms_;
  SideShown& ours_;
  SideShown& theirs_;
  ShmPlug plug_;
  Wake stop_;
  LinkThread thread_;
  uint64_t peer_beat_ = 0, peer_lived_ns_ = 0;  // the thread's
  Awake awake_;

  Mutex mutex_;
  std::condition_variable changed_;
  std::map<SegmentId, Asked> asked_ GT_GUARDED_BY(mutex_);  // of the peer
};

}  // namespace gt::wire
