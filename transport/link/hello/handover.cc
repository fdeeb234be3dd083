#include "transport/link/hello/handover.h"

#include <sys/socket.h>

#include "transport/link/base/fd_message.h"

namespace gt::wire {

Result<WorkerSocket> worker_socket() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
    return system_error("socketpair", errno);
  return WorkerSocket{Fd(ends[0]), Fd(ends[1])};
}

Status hand_over(int worker, int connection, const Hello& hello) {
  return send_with_fd(worker, to_bytes(hello), connection);
}

Result<std::optional<Handed>> take_over(int handover) {
  std::array<uint8_t, HelloBytes> bytes;
  Fd connection;
  const auto n = receive_with_fd(handover, bytes, connection);
  if (!n) return n.status();
  if (*n == 0) return std::optional<Handed>();
  const auto hello = hello_from_bytes(bytes);
  if (*n != HelloBytes || !connection.open() || !hello) return Status(Kind::Corrupt, "a hand-over that is damaged");
  return std::optional<Handed>(Handed{std::move(connection), *hello});
}

}  // namespace gt::wire
