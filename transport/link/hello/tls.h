// TLS 1.3 with certificates on both sides, by the system's OpenSSL, which is loaded when the first tls:// link is made.
//
// Thread safety: read() and write() may be called by two threads.
#pragma once

#include <sys/uio.h>

#include <memory>
#include <span>

#include "traces/base/own_fd.h"
#include "traces/base/status.h"
#include "transport/link/base/waiting.h"
#include "transport/link/hello/credentials.h"

namespace gt::wire {

// For a process that cannot read its files later: links made with these credentials do not open them again.
Status load_certificates(Credentials& credentials);

class Tls {
 public:
  enum class Side : uint8_t { Client, Server };
  // Does the handshake on a connected socket, which must outlive it. `wake` (-1: none): a descriptor that is readable
  // when it is to be given up. `host`: what the server's certificate must name
  // (client). Errors: Unsupported (no OpenSSL), Invalid (certificate or key files), Disconnected (the peer, or what it
  // showed; the text says what OpenSSL says).
  static Result<std::unique_ptr<Tls>> start(const OwnFd& fd, Side side, const std::string& host,
                                            const Credentials& credentials, Deadline deadline, int wake = -1);
  static Status available();
  ~Tls();

  // As Socket's. A write may take more than one of the parts.
  ssize_t read(std::span<const iovec> to);
  ssize_t write(std::span<const iovec> from);

 private:
  struct State;
  explicit Tls(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace gt::wire
