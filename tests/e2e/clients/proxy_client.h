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
#include <tuple>
#include <utility>
#include <vector>

#include "traces/api/encode.h"
#include "transport/link/connect.h"
#include "transport/protocol/codec.h"
#include "transport/protocol/messages.h"

namespace gt::proxy_test {

constexpr int Lost = 3;  // exit status: the session ended while it was needed

template <class T>
T named(wire::ObjectId id) { return reinterpret_cast<T>(id); }

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
    Bytes frame;
    wire::encode(message, frame);
    const ByteView part(frame);
    return link_->send({&part, 1}).ok();
  }
  // An OpenCL call whose result gets a new name. The arguments as in C, with named() handles.
  template <api::FnId F, class... A>
  wire::ObjectId make(A... args) {
    api::VectorWriter inputs;
    [&]<size_t... I>(std::index_sequence<I...>, const auto& all) {
      api::encode_inputs<F, api::Contents::Full>(inputs, static_cast<api::ParamType<F, I>>(std::get<I>(all))...);
    }(std::index_sequence_for<A...>{}, std::tuple<A...>(args...));
    wire::Call m;
    m.fn = static_cast<uint16_t>(F);
    m.result = next_++;
    m.inputs = inputs.view();
    send(m);
    return m.result;
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
