// The socket of a link inside a node, and the peer's process: what tells that the peer is gone, and carries words.
//
// A client's program may close both with everything that it does not know. The rings do not need them, so the link goes
// on: the client connects anew and names the session, as between nodes, and the server waits for it while the process
// lives, for the grace at most. Words that were lost with the old socket are said again by who waits for an answer.
// Thread safety: socket() and may_return() from any thread; the rest by the link's watch thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "traces/base/mutex.h"
#include "transport/link/base/wake.h"
#include "transport/link/hello/handshake.h"

namespace gt::wire {

// How a link gets another socket; none of it: in no way.
struct ShmResume {
  std::function<Result<Agreed>()> connect;  // client
  Fd handover;                              // server: where the client's new connections come from
  SessionId session{};                      // server
  Credentials credentials;                  // server
  LinkOptions options;
  uint32_t grace_ms = 0;
};

class ShmPlug {
 public:
  ShmPlug(Fd socket, Fd process, ShmResume resume);

  std::shared_ptr<const OwnFd> socket() const;
  // One that is lost may be replaced, and a word that it does not take may be said again.
  bool may_return() const { return may_return_.load(std::memory_order_relaxed); }
  void expect_end() { may_return_ = false; }

  // --- The watch thread's ---
  bool is_out() const { return out_since_ns_ != 0; }
  int process() const { return process_.get(); }  // -1: the socket alone has to tell
  // After poll has found something under process(): a program may have closed it, and something else is there now.
  bool is_process() const;
  // The peer has closed its end. True: by dying, or nobody can tell; a program may just have closed all it has.
  bool peer_is_dead() const;
  int handover() const { return resume_.handover.get(); }
  bool is_client() const { return static_cast<bool>(resume_.connect); }
  // The socket is of no use any more. False: it cannot be replaced.
  bool pull();
  // Client: one try. Server: a connection from the supervisor. True: there is another socket now.
  bool reconnect();
  bool take_connection();
  bool is_grace_over() const;
  void give_up();  // the supervisor forgets the session

 private:
  bool put_in(Result<Agreed> agreed);

  ShmResume resume_;
  OwnFd process_;
  uint64_t out_since_ns_ = 0;  // 0: it is plugged in
  std::atomic<bool> may_return_;
  mutable Mutex mutex_;
  std::shared_ptr<const OwnFd> socket_ GT_GUARDED_BY(mutex_);
};

// Each side gives the other a descriptor of its process. Not open: the other has none to give.
Result<Fd> exchange_processes(int socket, Deadline deadline);

}  // namespace gt::wire
