// Where the executors of a test's process find each other: what a proxy's supervisor does for its workers.
// Thread safety: all functions.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <thread>

#include "tests/unit/link/read_hello.h"
#include "transport/executor/executor.h"
#include "transport/link/base/waiting.h"
#include "transport/link/hello/handover.h"
#include "transport/link/hello/hello.h"
#include "transport/link/hello/sockets.h"

namespace gt::exec {

class PeerAcceptor {
 public:
  explicit PeerAcceptor(const wire::Url& where) : stop_(::eventfd(0, EFD_CLOEXEC)) {
    Result<Fd> listener = wire::listen_on(where);
    if (!listener) return;
    url_ = where.in_node() ? where : *wire::address_of(listener->get(), where.scheme);
    thread_ = std::thread([this, fd = std::move(*listener)] { serve(fd.get()); });
  }
  ~PeerAcceptor() {
    const uint64_t one = 1;
    (void)!::write(stop_.get(), &one, sizeof one);
    if (thread_.joinable()) thread_.join();
  }

  std::string url() const { return wire::to_text(url_); }
  Result<PeerListener> open() {
    PeerListener listener;
    GT_TRY(wire::fill_random(listener.session));
    Result<wire::WorkerSocket> ends = wire::worker_socket();
    if (!ends) return ends.status();
    listener.handover = std::move(ends->worker);
    listener.urls = {url()};
    const std::lock_guard lock(mutex_);
    listeners_[listener.session] = std::move(ends->supervisor);
    return listener;
  }

 private:
  void serve(int listener) {
    while (wire::wait_for(listener, POLLIN, wire::Deadline::never(), stop_.get())) {
      const Result<Fd> connection = wire::accept_connection(listener);
      const Result<wire::Hello> hello = connection ? wire::read_hello(connection->get()) : connection.status();
      if (!hello) continue;
      const std::lock_guard lock(mutex_);
      const auto it = listeners_.find(hello->session);
      const bool given = it != listeners_.end() && wire::hand_over(it->second.get(), connection->get(), *hello).ok();
      if (!given) wire::refuse(connection->get(), wire::Refusal::NoSession);
    }
  }

  const Fd stop_;
  wire::Url url_;
  std::mutex mutex_;
  std::map<wire::SessionId, Fd> listeners_;
  std::thread thread_;
};

}  // namespace gt::exec
