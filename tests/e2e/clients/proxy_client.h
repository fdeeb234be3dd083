// What the client of gproxy for tests is made of: a session that speaks the protocol itself, without any of the virtual
// platform's code, and waits for each answer.
// Thread safety: answers arrive from the link's thread; everything else is for one thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/call_frames.h"
#include "transport/link/connect.h"

namespace gt::proxy_test {

constexpr int Lost = 3;  // exit status: the session ended while it was needed

using testing::named;

class Session final : public wire::LinkHandler {
 public:
  explicit Session(std::unique_ptr<wire::Link> link) : link_(std::move(link)) {}
  ~Session() override { link_->close(); }

  Status start() { return link_->start(*this); }
  void close() { link_->close(); }
  // From now on (until `false`) losing the session ends the process.
  void end_when_lost(bool on) { end_when_lost_ = on; }

  // Sends a message that is answered, and waits. False: the session is over.
  template <class Question>
  bool ask(const Question& question) {
    {
      const std::lock_guard lock(mutex_);
      answered_ = false;
    }
    if (!send(question)) return false;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return answered_ || closed_; });
    return answered_;
  }
  template <class Message>
  bool send(const Message& message) {
    return send_frame(testing::framed(message));
  }
  // An OpenCL call whose result gets a new name. The arguments as in C, with named() handles.
  template <api::FnId F, class... A>
  wire::ObjectId make(A... args) {
    const wire::ObjectId result = next_++;
    send_frame(testing::call_frame<F>({0, result, 0}, args...));
    return result;
  }
  // Everything that was asked for is over.
  bool finish() {
    wire::Finish m;
    m.reply = 1;
    return ask(m);
  }

  wire::Surveyed surveyed;  // valid once Survey was answered
  std::string printed;      // by kernels so far; after an answer
  std::vector<int> failed;  // codes of what failed on its own; after an answer
  int built = 0;
  std::string build_log;  // of all devices

 private:
  bool send_frame(ByteView frame) { return link_->send({&frame, 1}).ok(); }
  void on_frame(ByteView frame) override;
  void on_put(wire::Notice, size_t) override {}
  void on_closed(const Status& why) override;

  std::unique_ptr<wire::Link> link_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool answered_ = false, closed_ = false;
  std::atomic<bool> end_when_lost_ = false;
  wire::ObjectId next_ = 1;
};

}  // namespace gt::proxy_test
