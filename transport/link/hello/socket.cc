#include "transport/link/hello/socket.h"

#include <sys/socket.h>

#include "transport/link/base/seen_order.h"

namespace gt::wire {
namespace {

ssize_t outcome(ssize_t n) {
  if (n > 0) return n;
  if (n < 0 && errno == EFAULT) return Socket::Untouchable;
  return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR || errno == ENOBUFS) ? 0 : -1;
}

Status too_late() { return {Kind::Disconnected, "the other side does not answer in time"}; }
Status ended() { return {Kind::Disconnected, "the other side ended the connection"}; }

}  // namespace

ssize_t Socket::read(std::span<const iovec> to) {
  if (!fd_.is_ours()) return -1;
  if (tls_) {
    const ssize_t n = tls_->read(to);
    order_after_receiving();
    return n;
  }
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(to.data());
  message.msg_iovlen = to.size();
  const ssize_t n = ::recvmsg(fd_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  order_after_receiving();
  return outcome(n);
}

ssize_t Socket::write(std::span<const iovec> from) {
  if (!fd_.is_ours()) return -1;
  order_before_sending();
  if (tls_) return tls_->write(from);
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(from.data());
  message.msg_iovlen = from.size();
  return outcome(::sendmsg(fd_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL));
}

void Socket::wake_from(int bytes) {
  if (fd_.is_ours()) ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof bytes);
}

Status Socket::read_all(std::span<uint8_t> to, Deadline deadline, int wake) {
  while (!to.empty()) {
    const iovec part{to.data(), to.size()};
    const ssize_t n = read({&part, 1});
    if (n < 0) return ended();
    if (n == 0 && !wait_for(fd_, POLLIN, deadline, wake)) return too_late();
    to = to.subspan(static_cast<size_t>(n));
  }
  return {};
}

Status Socket::write_all(ByteView from, Deadline deadline, int wake) {
  while (!from.empty()) {
    const iovec part{const_cast<uint8_t*>(from.data()), from.size()};
    const ssize_t n = write({&part, 1});
    if (n < 0) return ended();
    if (n == 0 && !wait_for(fd_, POLLOUT, deadline, wake)) return too_late();
    from = from.subspan(static_cast<size_t>(n));
  }
  return {};
}

void Socket::shut_down() {
  if (fd_.is_ours()) ::shutdown(fd_.get(), SHUT_RDWR);
}

}  // namespace gt::wire
