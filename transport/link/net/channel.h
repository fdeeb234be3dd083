// One connection of a link between nodes: a stream each way, which goes on when the connection is made anew.
//
//   sender ──► OutStream ──► socket ─ ─ ─► FrameReader ──► handlers
//                 ▲  kept until acknowledged
//
// Senders write by themselves; a thread of the channel's reads, and writes what senders could not.
//
// A connection that ends, or is silent for dead_ms, is lost: the owner's lost() is called and attach() gives another.
// Time in which the channel's thread itself did not run (its process was stopped, or its machine) is not silence.
// Rules: everything that is sent is appended and written under the mutex; writes never block. Who reads has the turn:
// the channel's thread, or one that waits for a frame (help()); only the channel's thread drops the socket, with the
// turn, so that reading needs no mutex. While somebody helps, the channel's thread sleeps on: what arrives does not
// wake it, and it does not wait for the turn. The turn is taken before the mutex. User functions marked "locked" are
// called with the mutex held.
// Thread safety: all functions from any thread, where nothing else is said.
#pragma once

#include <condition_variable>

#include "traces/base/mutex.h"
#include "transport/link/base/awake.h"
#include "transport/link/base/link.h"
#include "transport/link/base/link_thread.h"
#include "transport/link/base/out_stream.h"
#include "transport/link/base/spin_policy.h"
#include "transport/link/base/wake.h"
#include "transport/link/net/frame_reader.h"

namespace gt::wire {

class Channel;

constexpr uint64_t NoSample = ~uint64_t{0};

class ChannelUser : public FrameSink {
 public:
  // Locked: room for more; appends what is to be written next, if there is any.
  virtual void fill(Channel& channel, uint64_t now_ns) = 0;
  // Locked: out().acknowledged() has moved. `hold_ns`: how long the peer held the last byte, or NoSample.
  virtual void acknowledged(Channel& channel, uint64_t now_ns, uint64_t hold_ns) = 0;
  // Not locked, by the channel's thread:
  virtual bool channel_idle(Idle how) = 0;             // as LinkHandler::on_idle()
  virtual void channel_ticks() = 0;                    // at least once a heartbeat
  virtual void channel_lost() = 0;                     // its connection
  virtual void channel_failed(const Status& why) = 0;  // by what the peer did
  virtual void channel_over() = 0;                     // the thread's last act
};

class Channel {
 public:
  struct Times {
    uint64_t heartbeat_ns, dead_ns;
  };
  Channel(ChannelUser& user, uint64_t salt, bool data, Times times);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // --- Connections ---
  // The first one, or one that resumes: `peer_received` of what was sent has arrived. REQUIRES: detached.
  Status attach(Socket socket, uint64_t peer_received);
  // The connection is given up; waits for the channel's thread to let go of it, and says what has arrived.
  Result<uint64_t> detach(Deadline deadline);
  bool is_lost();  // has no connection
  // Says that we live, if nothing else was said for long: also while a handler keeps the channel's thread busy.
  void beat();
  uint64_t received() const { return reader_.received(); }
  uint64_t heard_ns() const { return heard_ns_.load(std::memory_order_relaxed); }

  // --- Life ---
  Status start(const char* name);
  void end();    // the thread will end; nothing is written any more
  void join();   // REQUIRES: end() was called, and this is not the channel's thread
  // In a handler of this channel, or about to call one.
  bool is_this_thread() const { return thread_.is_this() || helper_.load() == ::pthread_self(); }
  // Link::help(), without the push.
  void help(const std::function<bool()>& done);

  // --- Sending: REQUIRES the mutex ---
  Mutex& mutex() GT_RETURN_CAPABILITY(mutex_) { return mutex_; }
  std::condition_variable& changed() { return changed_; }  // acknowledgements, ends
  OutStream& out() GT_REQUIRES(mutex_) { return out_; }
  bool ended() const GT_REQUIRES(mutex_) { return ended_; }   // end() was called
  bool quiet() const GT_REQUIRES(mutex_) { return quiet_; }   // and the thread has touched the last memory
  // A header, and of what follows it what is given; the rest, `more_bytes`, the caller appends.
  void append(FrameType type, ByteView head = {}, size_t more_bytes = 0) GT_REQUIRES(mutex_);
  void write() GT_REQUIRES(mutex_);
  // The kernel's estimate of the connection's round trip; 0: it has none.
  uint64_t network_delay_ns() const GT_REQUIRES(mutex_);
  // What was appended may wait for others, 50 us at most.
  void hold() GT_REQUIRES(mutex_);

  // --- Acknowledging ---
  // By the channel's thread: something arrived that the peer waits to hear of.
  void owe_ack() { owed_since_ns_ = monotonic_ns(); }
  void send_ack() GT_REQUIRES(mutex_);  // now
  // The peer says what it has. Corrupt: that cannot be.
  Status acknowledge(uint64_t position, uint64_t hold_ns);

 private:
  void run();
  bool step();
  bool read_some(Socket& socket);
  bool read_for_thread();
  void count_helpers(int more);
  bool spin(Socket& socket);
  bool keep_up(bool drained);
  bool is_silent(uint64_t now_ns);
  uint64_t silent_since_ns() const { return std::max(heard_ns(), awake_since_ns_); }
  void lose();
  void sleep(int fd);
  bool renew_timer();
  int sleep_ms(uint64_t now_ns, bool connected) const GT_REQUIRES(mutex_);
  void wake();
  void quit();

  ChannelUser& user_;
  const uint64_t salt_;
  const Times times_;
  Mutex mutex_;
  std::condition_variable changed_;
  OutStream out_ GT_GUARDED_BY(mutex_);
  FrameReader reader_;
  std::shared_ptr<Socket> socket_ GT_GUARDED_BY(mutex_);
  Wake wake_;
  OwnFd timer_;  // made anew by the channel's thread, with the mutex
  LinkThread thread_;
  bool started_ = false;
  bool ended_ GT_GUARDED_BY(mutex_) = false, quiet_ GT_GUARDED_BY(mutex_) = false;
  bool want_out_ GT_GUARDED_BY(mutex_) = false, broken_ GT_GUARDED_BY(mutex_) = false;
  bool detach_ GT_GUARDED_BY(mutex_) = false, timer_armed_ GT_GUARDED_BY(mutex_) = false;
  uint64_t wrote_ns_ GT_GUARDED_BY(mutex_) = 0;
  uint64_t told_ GT_GUARDED_BY(mutex_) = 0;      // what the peer knows of received()
  uint64_t owed_since_ns_ = 0;                   // channel's thread
  Awake awake_;                                  // likewise
  uint64_t awake_since_ns_ = 0;
  std::atomic<bool> waking_{false};
  std::atomic<uint64_t> heard_ns_{0};

  Mutex turn_;  // tried by who reads, which the analysis cannot follow
  std::atomic<pthread_t> helper_{};  // in a handler
  std::atomic<int> helpers_{0};      // that look; changed under the mutex
  SpinPolicy thread_spins_, helper_spins_;
};

}  // namespace gt::wire
