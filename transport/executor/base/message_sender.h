// The way of messages to the client. Closed for good by cut(), after which the link is not touched any more.
// Thread safety: all functions. Cost: no allocation for a message that is not larger than one of the thread's before.
#pragma once

#include <atomic>

#include "transport/protocol/fragments.h"

namespace gt::exec {

class MessageSender {
 public:
  explicit MessageSender(wire::Link& link) : link_(link) {}

  // What cannot be sent is lost: the link is closed then, and nobody is there to miss it.
  template <class Message>
  void send(const Message& message, bool more = false) {
    Bytes bytes = take_kept();  // inside a process sending may lead to sending again
    wire::encode(message, bytes);
    if (const Use use(*this); use.open())
      static_cast<void>(wire::send_message<wire::FragmentToClient>(link_, numbers_, bytes, more));
    keep(std::move(bytes));
  }

  // The link for as long as the value lives, unless open() is false.
  class Use {
   public:
    explicit Use(MessageSender& sender) : sender_(sender), open_(sender.enter()) {}
    ~Use() { open_ ? sender_.leave() : void(); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    bool open() const { return open_; }
    wire::Link& link() const { return sender_.link_; }

   private:
    MessageSender& sender_;
    bool open_;
  };

  // Waits for those who use the link. REQUIRES: the link is closed, so that they do not wait for long.
  void cut() {
    cut_ = true;
    for (uint32_t n = users_; n != 0; n = users_) users_.wait(n);
  }

 private:
  static constexpr size_t KeptBytes = size_t{1} << 20;

  // The thread's buffer. Destructors of a thread's variables, and exit handlers of the thread that runs them, may come
  // later than its own.
  struct Kept {
    Bytes bytes;
    ~Kept() { over() = true; }
    static bool& over() {
      static thread_local constinit bool yes = false;
      return yes;
    }
  };
  static Kept& kept() {
    static thread_local Kept mine;
    return mine;
  }
  static Bytes take_kept() { return Kept::over() ? Bytes() : std::move(kept().bytes); }
  static void keep(Bytes bytes) {
    if (!Kept::over() && bytes.capacity() <= KeptBytes) kept().bytes = std::move(bytes);
  }

  bool enter() {
    ++users_;
    if (!cut_) return true;
    leave();
    return false;
  }
  void leave() {
    if (--users_ == 0 && cut_) users_.notify_all();
  }

  wire::Link& link_;
  wire::FragmentNumbers numbers_{0};
  std::atomic<uint32_t> users_{0};
  std::atomic<bool> cut_{false};
};

}  // namespace gt::exec
