#include "transport/link/base/fd_message.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "traces/base/high_fd.h"

namespace gt::wire {

Status send_with_fd(int socket, ByteView bytes, int fd) {
  iovec part{const_cast<uint8_t*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(c), &fd, sizeof fd);
  }
  const ssize_t n = ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (n == static_cast<ssize_t>(bytes.size())) return {};
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return {Kind::Busy, "the other side does not keep up"};
  return {Kind::Disconnected, "the other side is gone"};
}

Result<size_t> receive_with_fd(int socket, std::span<uint8_t> bytes, Fd& fd) {
  iovec part{bytes.data(), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = CMSG_LEN(sizeof(int));  // room for one
  const ssize_t n = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return size_t{0};
  if (n <= 0) return Status(Kind::Disconnected, "the other side is gone");
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS || c->cmsg_len < CMSG_LEN(sizeof(int))) continue;
    int received = -1;
    std::memcpy(&received, CMSG_DATA(c), sizeof received);
    fd = high_fd(Fd(received));
  }
  return static_cast<size_t>(n);
}

}  // namespace gt::wire
