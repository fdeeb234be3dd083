// The way of messages to the client. Closed for good by cut(), after which the link is not touched any more.
// Thread safety: all functions. Cost: no allocation for a message that is not larger than one of the thread's before.
#pragma once

#include <atomic>

#include "transport/protocol/fragments.h"

namespace gt::exec {

class MessageSender {
 public:
  explicit MessageSender(wire::Link& link) : x_link(link) {}

  // What cannot be sent is lost: the link is closed then, and nobody is there to miss it.
  template <class Message>
  void send(const Message& message, bool more = false) {
    Bytes bytes = take_kept();  // inside a process sending may lead to sending again
    wire::encode(message, bytes);
    if (const Use use(*this); use.open())
      static_cast<void>(wire::send_message<wire::FragmentToClient>(x_link, x_numbers, bytes, more));
    keep(std::move(bytes));
  }

  // The link for as long as the value lives, unless open() is false.
  class Use {
   public:
    explicit Use(MessageSender& sender) : x_sender(sender), x_open(sender.enter()) {}
    ~Use() { x_open ? x_sender.leave() : void(); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    bool open() const { return x_open; }
    wire::Link& link() const { return x_sender.x_link; }

   private:
    MessageSender& x_sender;
    bool x_open;
  };

  // Waits for those who use the link. REQUIRES: the link is closed, so that they do not wait for long.
  void cut() {
    x_cut = true;
    for (uint32_t n = x_users; n != 0; n = x_users) x_users.wait(n);
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
    ++x_users;
    if (!x_cut) return true;
    leave();
    return false;
  }
  void leave() {
    if (--x_users == 0 && x_cut) x_users.notify_all();
  }

  wire::Link& x_link;
  wire::FragmentNumbers x_numbers{0};
  std::atomic<uint32_t> x_users{0};
  std::atomic<bool> x_cut{false};
};

}  // namespace gt::exec
