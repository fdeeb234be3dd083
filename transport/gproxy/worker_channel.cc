#include "transport/gproxy/worker_channel.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

namespace gt::proxy {
namespace {

// A message of one record, with room for a descriptor.
struct Message {
  Message(void* record, size_t bytes) : part{record, bytes} {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = space;
    header.msg_controllen = CMSG_LEN(sizeof(int));  // one: what does not fit is closed by the kernel
  }
  iovec part;
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
};

void attach(Message& message, int fd) {
  cmsghdr* const attached = CMSG_FIRSTHDR(&message.header);
  attached->cmsg_level = SOL_SOCKET;
  attached->cmsg_type = SCM_RIGHTS;
  attached->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(attached), &fd, sizeof fd);
}

}  // namespace

bool send_report(int socket, const Report& report, int fd) {
  Report copy = report;
  Message message(&copy, sizeof copy);
  fd >= 0 ? attach(message, fd) : void(message.header.msg_controllen = 0);
  return ::sendmsg(socket, &message.header, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(sizeof copy);
}

bool receive_report(int socket, Report& report, Fd& fd, bool& gone) {
  Message message(&report, sizeof report);
  const ssize_t n = ::recvmsg(socket, &message.header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  gone = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
  const cmsghdr* const attached = n > 0 ? CMSG_FIRSTHDR(&message.header) : nullptr;
  if (attached && attached->cmsg_level == SOL_SOCKET && attached->cmsg_type == SCM_RIGHTS) {
    int received;
    std::memcpy(&received, CMSG_DATA(attached), sizeof received);
    fd = Fd(received);
  }
  report.text[sizeof report.text - 1] = '\0';
  return n == static_cast<ssize_t>(sizeof report);
}

}  // namespace gt::proxy
