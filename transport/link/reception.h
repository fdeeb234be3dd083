// Takes connections at listeners, reads their hello and gives them to the sessions that they belong to: what a
// supervisor does all day.
//
// Looks at nothing but the hello; a connection that does not say it within hello_ms is dropped, and the oldest one when
// too many wait. A session is forgotten when its worker closes its end of the worker socket.
// Thread safety: one thread.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "traces/base/fd.h"
#include "traces/base/status.h"
#include "transport/link/base/waiting.h"
#include "transport/link/hello/hello.h"
#include "transport/link/hello/url.h"

namespace gt::wire {

class Reception {
 public:
  // A new session: gives the supervisor's end of a worker_socket() whose other end the worker has. Busy and
  // Disconnected (draining) are told to the client.
  using NewSession = std::function<Result<Fd>(const Hello& hello, int connection)>;
  struct Limits {
    uint32_t hello_ms = 2000;
    size_t strangers = 64;  // connections without a hello
  };
  explicit Reception(NewSession new_session) : Reception(std::move(new_session), Limits()) {}
  Reception(NewSession new_session, Limits limits) : new_session_(std::move(new_session)), limits_(limits) {}

  // `scheme`: at an encrypted listener clients must ask for TLS, at others they must not.
  void listen(Fd listener, const Scheme* scheme);
  // Serves whoever comes until `wake` is readable or the time is over (-1: no limit).
  void serve(int wake, int timeout_ms);
  size_t sessions() const { return sessions_.size(); }
  size_t strangers() const { return strangers_.size(); }

 private:
  struct Listener {
    Fd fd;
    const Scheme* scheme;
  };
  struct Stranger {
    Fd fd;
    const Scheme* scheme;
    HelloReader reader;
    Deadline deadline;
  };
  int next_timeout_ms(Deadline until) const;
  void take(const Listener& listener);
  bool hear(Stranger& stranger);  // false: he is gone, or has been dealt with
  void direct(const Stranger& stranger, const Hello& hello);

  NewSession new_session_;
  const Limits limits_;
  std::vector<Listener> listeners_;
  std::vector<Stranger> strangers_;
  std::map<SessionId, Fd> sessions_;
};

}  // namespace gt::wire
