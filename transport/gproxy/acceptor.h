// Where callers come in: listening sockets, and those who have connected but not yet said hello.
//
// A hello has 64 bytes and two seconds. Callers that send anything else, nothing, or one byte at a time are closed;
// when too many wait, the oldest goes. Nothing else of what strangers send is looked at in this process.
// Invariant: waiting callers <= MostWaiting. Thread safety: none; on the loop's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "traces/base/fd.h"
#include "transport/gproxy/event_loop.h"
#include "transport/gproxy/listener.h"
#include "transport/link/hello/hello.h"
#include "transport/link/hello/url.h"

namespace gt::proxy {

struct Caller {
  Fd connection;
  wire::Hello hello;
  std::string name;  // for people: "10.0.0.7:40122", "process 4711 (clinfo)"
};

class Acceptor {
 public:
  using Welcome = std::function<void(Caller)>;
  static constexpr size_t MostWaiting = 256;

  Acceptor(EventLoop& loop, Welcome welcome) : loop_(loop), welcome_(std::move(welcome)) {}
  ~Acceptor();

  // Where it listens then (the port may have been left to the system). Errors: those of listen_on().
  Result<wire::Url> open(const wire::Url& url);
  uint64_t turned_away() const { return turned_away_; }  // said no hello

 private:
  struct Endpoint {
    wire::Url url;
    std::unique_ptr<Listener> listener;
  };
  struct Waiting {
    Caller caller;
    const Endpoint* endpoint;
    wire::HelloReader reader;
    EventLoop::Timer deadline;
    EventLoop::Watch watch;  // goes before the descriptor
  };

  void add(Fd connection, const Endpoint& endpoint);
  void read(uint64_t id);
  void drop(uint64_t id);

  EventLoop& loop_;
  Welcome welcome_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  std::map<uint64_t, Waiting> waiting_;  // the oldest first
  uint64_t next_ = 1, turned_away_ = 0;
};

}  // namespace gt::proxy
