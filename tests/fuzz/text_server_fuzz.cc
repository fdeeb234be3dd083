// libFuzzer: what strangers say to the metrics' server, over several connections at once.
//
// Input: a list of [connection, length, bytes...]; length 255 ends the connection. Who asks gets nothing, or HTTP.
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstdlib>
#include <string_view>

#include "tests/fuzz/input.h"
#include "tests/fuzz/seeds.h"
#include "transport/gproxy/text_server.h"

using namespace gt;
using namespace gt::proxy;
using fuzz::Input;

namespace {

constexpr size_t Connections = TextServer::MostExchanges + 8;
constexpr int IdleTurns = 4;  // of the loop, for what is under way at the end
constexpr sa_family_t NoName = AF_UNIX;  // the system gives it one

Fd unix_socket(int flags) {
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  if (!fd.open()) std::abort();
  return fd;
}

class Strangers {
 public:
  explicit Strangers(Input in) : in_(in), loop_(std::move(*EventLoop::make())) {
    Fd listener = unix_socket(SOCK_NONBLOCK);
    if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&NoName), sizeof NoName) != 0 ||
        ::listen(listener.get(), 64) != 0)
      std::abort();
    size_ = sizeof address_;
    if (::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address_), &size_) != 0) std::abort();
    server_ = std::make_unique<TextServer>(*loop_, std::move(listener), TextServer::Style::Http, [] {},
                                           [] { return std::string("gtrace_sessions 0\n"); },
                                           std::chrono::milliseconds(0));
  }
  void run() {
    next_ = loop_->after(std::chrono::milliseconds(0), [this] { turn(); });
    loop_->run();
    for (const Fd& fd : connections_) check_answer(fd);
  }

 private:
  void turn() {
    if (in_.empty() && idle_++ == IdleTurns) return loop_->stop();
    if (!in_.empty()) say();
    next_ = loop_->after(std::chrono::milliseconds(0), [this] { turn(); });
  }
  void say() {
    Fd& to = connections_[in_.byte() % Connections];
    const uint8_t length = in_.byte();
    if (length == 255) return void(to = Fd());
    if (!to.open()) {
      to = unix_socket(0);
      if (::connect(to.get(), reinterpret_cast<const sockaddr*>(&address_), size_) != 0) std::abort();
    }
    const ByteView bytes = in_.bytes(length);
    (void)!::send(to.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  static void check_answer(const Fd& fd) {
    if (!fd.open()) return;
    char answer[512];
    const ssize_t n = ::recv(fd.get(), answer, sizeof answer, MSG_DONTWAIT);
    const std::string_view text(answer, n > 0 ? static_cast<size_t>(n) : 0);
    if (!text.empty() && !text.starts_with("HTTP/1.0 ")) std::abort();
  }

  Input in_;
  std::unique_ptr<EventLoop> loop_;
  sockaddr_un address_{};
  socklen_t size_ = 0;
  std::unique_ptr<TextServer> server_;
  std::array<Fd, Connections> connections_;
  EventLoop::Timer next_;
  int idle_ = 0;
};

Bytes said(uint8_t connection, std::string_view text) {
  Bytes input(2 + text.size());
  input[0] = connection;
  input[1] = static_cast<uint8_t>(text.size());
  std::copy(text.begin(), text.end(), input.begin() + 2);
  return input;
}

}  // namespace

std::vector<Bytes> fuzz_seeds() {
  return {said(0, "GET /metrics HTTP/1.0\r\n\r\n"), said(1, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"), said(2, "GET /x\n\n"),
          said(3, "POST / HTTP/1.0\r\n\r\n"), said(4, "GET"), said(5, "\r\n\r\n"), said(6, std::string(250, 'a')),
          {0, 255}};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Strangers strangers(Input(data, size));
  strangers.run();
  return 0;
}
