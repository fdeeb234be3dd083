// Answers with a text and hangs up: the status for people of this machine, metrics over the least of HTTP/1.0.
//
// A request has at most LongestRequest bytes, an exchange two seconds; when too many are under way the oldest goes.
// Thread safety: none; on the loop's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "traces/base/fd.h"
#include "transport/gproxy/event_loop.h"
#include "transport/gproxy/listener.h"

namespace gt::proxy {

class TextServer {
 public:
  static constexpr size_t MostExchanges = 32, LongestRequest = 4096;
  enum class Style : uint8_t {
    SameUser,  // over a Unix socket: no request; only who runs this proxy (or root) is answered
    Http,
  };

  // For each answer `refresh` is called, and a moment later `text`.
  TextServer(EventLoop& loop, Fd listener, Style style, std::function<void()> refresh,
             std::function<std::string()> text, std::chrono::milliseconds moment = std::chrono::milliseconds(20));

 private:
  struct Exchange {
    Fd connection;
    std::string request, answer;
    size_t sent = 0;
    EventLoop::Timer refreshed, deadline;
    EventLoop::Watch watch;  // goes before the descriptor
  };

  void add(Fd connection);
  void read(uint64_t id);
  void answer(uint64_t id);
  void reply(uint64_t id, std::string answer);
  void write(uint64_t id);
  std::string http_answer(std::string_view request) const;

  EventLoop& loop_;
  Style style_;
  std::function<void()> refresh_;
  std::function<std::string()> text_;
  const std::chrono::milliseconds moment_;
  std::map<uint64_t, Exchange> exchanges_;  // the oldest first
  uint64_t next_ = 1;
  Listener listener_;
};

}  // namespace gt::proxy
