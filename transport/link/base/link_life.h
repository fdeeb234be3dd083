// The life of a link that has two channels and threads.
//
//   Open ──close()──► Closing ──all that was sent has arrived, or 2 s──► Ended    (end(why): at once)
//
// Invariants: it ends once, and the first reason stays. on_closed() is called once, by the later of the channels'
// threads as its last act, when nothing else of the handler is being called nor will be. In a child of a fork the link
// is closed, and nothing of it is touched.
// Thread safety: all functions. No mutex is held while the parts or the handler are called.
#pragma once

#include <atomic>
#include <condition_variable>

#include "traces/base/fork_mark.h"
#include "traces/base/mutex.h"
#include "transport/link/base/link.h"

namespace gt::wire {

inline Status link_closed() { return {Kind::Disconnected, "the link is closed"}; }

// What a life needs of its link.
class LinkParts {
 public:
  virtual ~LinkParts() = default;
  virtual bool in_handler() = 0;     // called by a thread of the link: it must not wait
  virtual void say_bye() = 0;        // nothing more is sent
  virtual bool all_arrived() = 0;    // whatever was sent is with the peer; asked again and again while closing
  virtual void stop() = 0;           // the link has ended: so do its threads, and who waits wakes up
  virtual void stop_telling() {}     // on return nobody but the channels' threads calls the handler any more
};

class LinkLife {
 public:
  explicit LinkLife(LinkParts& parts) : parts_(parts) {}

  bool in_child() const { return mark_.in_child(); }
  bool has_started() const { return started_; }
  bool is_open() const { return state_ == State::Open; }
  bool is_closing() const { return state_ == State::Closing; }
  bool is_ended() const { return state_ == State::Ended; }
  bool is_closed() const { return in_child() || !is_open(); }  // as Link's
  Status why_closed() const;
  bool in_handler() { return parts_.in_handler(); }
  LinkHandler& handler() { return *handler_; }  // REQUIRES: start()

  void start(LinkHandler& handler);  // before the threads that call it
  void close();                      // Link's
  void end(const Status& why);
  void tick();               // now and then, by the channels' threads: whether closing is over
  void channel_has_ended();  // once by each channel's thread, its last act

 private:
  enum class State : uint8_t { Open, Closing, Ended };

  LinkParts& parts_;
  const ForkMark mark_ = ForkMark::here();
  LinkHandler* handler_ = nullptr;
  std::atomic<bool> started_{false};
  std::atomic<State> state_{State::Open};
  mutable Mutex mutex_;  // held by who changes the state, too
  std::condition_variable changed_;
  Status why_ GT_GUARDED_BY(mutex_);
  uint64_t give_up_ns_ = 0;  // closing: until when; does not change any more
  int ended_channels_ GT_GUARDED_BY(mutex_) = 0;  // the later one counts when on_closed() has returned
};

}  // namespace gt::wire
