// Serves one page over HTTP/1.1 on 127.0.0.1, under a path of 128 random bits: other users of this machine reach the
// port, but do not know the path. The address is the secret; it is printed, and is in no process's arguments.
//
// A request has at most LongestRequest bytes and RequestTime; a reader that takes nothing for ReaderTime goes; when
// MostExchanges are under way the oldest goes.
// Thread safety: none.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>

#include "traces/base/fd.h"
#include "traces/base/status.h"

namespace gt::tracer::view {

// The head of the answer to a request for the page at `path`; `with_page`: the page follows.
struct Answer {
  std::string head;
  bool with_page = false;
};
Answer answer_to(std::string_view request, std::string_view path, size_t page_bytes);

class PageServer {
 public:
  static constexpr size_t MostExchanges = 32, LongestRequest = 16384;
  static constexpr std::chrono::seconds RequestTime{10}, ReaderTime{60};

  // `port` 0: a free one.
  static Result<PageServer> open(uint16_t port);

  uint16_t port() const { return port_; }
  std::string address() const;

  // Until there is something to read from `stop`.
  Status serve(const std::string& page, int stop);

 private:
  using Clock = std::chrono::steady_clock;
  struct Exchange {
    Fd connection;
    Clock::time_point deadline;
    std::string request;  // until it is whole
    Answer answer{};      // from then on; first the head, then the page
    size_t sent = 0;
  };

  PageServer(Fd listener, uint16_t port, std::string path);
  void accept_all();
  bool goes_on(Exchange& e, const std::string& page) const;  // false: it is over
  bool read(Exchange& e, size_t page_bytes) const;
  bool write(Exchange& e, const std::string& page) const;

  Fd listener_;
  uint16_t port_;
  std::string path_;               // "/0123.../"
  std::list<Exchange> exchanges_;  // the oldest first
};

}  // namespace gt::tracer::view
