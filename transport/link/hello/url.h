// URLs of links, and the places that they name. Thread safety: functions from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "traces/base/status.h"

namespace gt::wire {

struct Url {
  enum class Scheme : uint8_t { Shm, Tcp, Tls };
  Scheme scheme = Scheme::Tcp;
  std::string name;   // Shm: NAME of shm:NAME; one with a slash is the path of the socket
  std::string host;   // Tcp, Tls; an IPv6 address without its brackets
  uint16_t port = 0;  // 0 (to listen only): any

  bool operator==(const Url&) const = default;
};
constexpr uint16_t DefaultPort = 7447;

// shm:NAME, tcp://HOST[:PORT], tls://HOST[:PORT]. Errors are Invalid.
Result<Url> parse_url(std::string_view text);
std::string to_text(const Url& url);
// Of a Shm URL: $XDG_RUNTIME_DIR/gtrace/NAME.sock, or /tmp/gtrace-UID/NAME.sock.
std::string socket_path(const Url& url);
// No packet to it leaves this machine: shm, a loopback address, localhost.
bool is_local(const Url& url);

}  // namespace gt::wire
