// A server in the test's process: a Reception in a thread, and accept_link() for each session in another.
#pragma once

#include <sys/eventfd.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "transport/link/connect.h"
#include "transport/link/hello/handover.h"
#include "transport/link/hello/sockets.h"
#include "transport/link/reception.h"

namespace gt::wire {

// Who connects may have to wait for a processor on both sides; nothing here tests how long that may take.
constexpr uint32_t ConnectTimeout_ms = 30'000;
inline LinkOptions patient(LinkOptions options = {}) {
  options.connect_ms = ConnectTimeout_ms;
  return options;
}

class TestServer {
 public:
  TestServer(const Url& where, Credentials credentials, LinkOptions options = {})
      : credentials_(std::move(credentials)),
        options_(patient(options)),
        stop_(::eventfd(0, EFD_CLOEXEC)),
        reception_([this](const Hello&, int) { return new_session(); }, {ConnectTimeout_ms, 4}) {
    auto listener = listen_on(where);
    if (!listener) {
      error_ = listener.status();
      return;
    }
    url_ = *address_of(listener->get(), where.scheme);
    if (where.is_encrypted()) url_.host = where.host;
    reception_.listen(std::move(*listener), where.scheme);
    thread_ = std::thread([this] { reception_.serve(stop_.get(), -1); });
  }
  ~TestServer() { stop(); }

  const Url& url() const { return url_; }
  const Status& error() const { return error_; }
  // Sessions whose client was not let in.
  bool wait_refused(int n) {
    std::unique_lock lock(mutex_);
    return came_.wait_for(lock, std::chrono::milliseconds(ConnectTimeout_ms), [&] { return refused_ >= n; });
  }
  // The next client's link; nullptr: none came in time.
  std::unique_ptr<Link> next() {
    std::unique_lock lock(mutex_);
    came_.wait_for(lock, std::chrono::milliseconds(ConnectTimeout_ms), [&] { return !links_.empty(); });
    if (links_.empty()) return nullptr;
    auto link = std::move(links_.front());
    links_.pop_front();
    return link;
  }
  // Takes no more connections, and resumes none.
  void stop() {
    const uint64_t one = 1;
    (void)!::write(stop_.get(), &one, sizeof one);
    if (thread_.joinable()) thread_.join();
    for (std::thread& t : workers_) t.join();
    workers_.clear();
  }

 private:
  Result<Fd> new_session() {
    auto ends = worker_socket();
    if (!ends) return ends.status();
    workers_.emplace_back([this, worker = std::move(ends->worker)]() mutable {
      auto link = accept_link(std::move(worker), credentials_, options_);
      const std::lock_guard lock(mutex_);
      if (link) links_.push_back(std::move(*link));
      refused_ += !link.ok();
      came_.notify_all();
    });
    return std::move(ends->supervisor);
  }

  const Credentials credentials_;
  const LinkOptions options_;
  const Fd stop_;
  Reception reception_;
  Url url_;
  Status error_;
  std::thread thread_;
  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<std::unique_ptr<Link>> links_;
  int refused_ = 0;
};

}  // namespace gt::wire
