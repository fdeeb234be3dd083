// The bare connection beside a link: what the network does without us. An echo (echo.h) is at its other end.
// Thread safety: none.
#pragma once

#include "microbench/links/echo.h"
#include "transport/link/hello/socket.h"

namespace gt::bench {

class BareSocket {
 public:
  BareSocket() = default;  // open() is false
  // Of an echo that has greeted us. Disconnected: for example a firewall keeps it out.
  static Result<BareSocket> connect(const wire::Url& echo, const EchoGreeting& greeting);
  // The same, with a link for as long as the greeting takes.
  static Result<BareSocket> connect(const wire::Url& echo, const wire::Credentials& credentials);

  bool open() const { return socket_.open(); }
  // There and back (Echo), there until the other side says that it has them (Take), or from there (Give). Contents do
  // not matter: more bytes than `memory` has come from it, or go into it, again and again.
  Status move(BareOperation operation, uint64_t bytes, std::span<uint8_t> memory);

 private:
  explicit BareSocket(Fd fd) : socket_(std::move(fd)) {}
  Status move_part(BareOperation operation, std::span<uint8_t> data);

  wire::Socket socket_;
};

}  // namespace gt::bench
