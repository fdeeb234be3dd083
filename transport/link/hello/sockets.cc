#include "transport/link/hello/sockets.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>
#include <memory>

#include "traces/base/high_fd.h"
#include "transport/link/hello/hello.h"

namespace gt::wire {
namespace {

Result<sockaddr_un> unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return Status(Kind::Invalid, "the path of the socket is too long: " + path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

const sockaddr* generic(const sockaddr_un& address) { return reinterpret_cast<const sockaddr*>(&address); }

Fd stream_socket(int family) { return Fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Result<Addresses> resolve(const Url& url, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(url.host.c_str(), std::to_string(url.port).c_str(), &hints, &list);
  if (error != 0)
    return Status(Kind::Disconnected, "the host " + url.host + " is not known: " + ::gai_strerror(error));
  return Addresses(list);
}

Result<Fd> connect_socket(int family, const sockaddr* address, socklen_t size, Deadline deadline, int wake) {
  Fd fd = high_fd(stream_socket(family));
  if (!fd.open()) return system_error("socket", errno);
  if (::connect(fd.get(), address, size) == 0) return fd;
  if (errno == EAGAIN) return Status(Kind::Busy, "the server has too many new connections");  // Unix sockets
  if (errno != EINPROGRESS) return Status(Kind::Disconnected, std::strerror(errno), errno);
  if (!wait_for(fd.get(), POLLOUT, deadline, wake)) return Status(Kind::Disconnected, "no answer", ETIMEDOUT);
  int error = 0;
  socklen_t error_size = sizeof error;
  ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &error_size);
  if (error != 0) return Status(Kind::Disconnected, std::strerror(error), error);
  return fd;
}

Status make_folder_of(const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/'));
  if (folder.empty() || ::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return system_error("cannot make the folder " + folder, errno);
}

Result<Fd> listen_on_path(const std::string& path) {
  const auto address = unix_address(path);
  if (!address) return address.status();
  GT_TRY(make_folder_of(path));
  if (connect_socket(AF_UNIX, generic(*address), sizeof *address, Deadline::in_ms(200), -1))
    return Status(Kind::Busy, "somebody listens at " + path + " already");
  struct stat about {};
  if (::lstat(path.c_str(), &about) == 0 && S_ISSOCK(about.st_mode)) ::unlink(path.c_str());
  Fd fd = stream_socket(AF_UNIX);
  if (!fd.open()) return system_error("socket", errno);
  if (::bind(fd.get(), generic(*address), sizeof *address) != 0) return system_error("cannot bind " + path, errno);
  if (::listen(fd.get(), SOMAXCONN) != 0) return system_error("cannot listen at " + path, errno);
  return fd;
}

}  // namespace

void tune(int connection) {
  const int on = 1, unsent = 128 << 10;
  ::setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // fails for Unix sockets, which do not need it
  ::setsockopt(connection, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent);
}

bool is_unix(int socket) {
  int domain = 0;
  socklen_t size = sizeof domain;
  return ::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX;
}

Result<Fd> connect_to(const Url& url, Deadline deadline, int wake) {
  if (url.in_node()) {
    const std::string path = socket_path(url);
    const auto address = unix_address(path);
    if (!address) return address.status();
    auto fd = connect_socket(AF_UNIX, generic(*address), sizeof *address, deadline, wake);
    return fd ? std::move(fd) : fd.status().at("nobody listens at " + path);
  }
  const auto addresses = resolve(url, 0);
  if (!addresses) return addresses.status();
  Status last(Kind::Disconnected, "no address");
  for (const addrinfo* a = addresses->get(); a; a = a->ai_next) {
    auto fd = connect_socket(a->ai_family, a->ai_addr, a->ai_addrlen, deadline, wake);
    if (!fd) {
      last = fd.status();
      continue;
    }
    tune(fd->get());
    return fd;
  }
  return last.at("cannot connect");
}

bool is_final(const Status& s) {
  return s.code() == ECONNREFUSED || s.code() == ENOENT || s.kind() == Kind::Invalid || s.kind() == Kind::Unsupported ||
         s.kind() == Kind::Corrupt || s.code() >= FirstRefusalCode;
}

Result<Fd> listen_on(const Url& url) {
  if (url.in_node()) return listen_on_path(socket_path(url));
  const auto addresses = resolve(url, AI_PASSIVE);
  if (!addresses) return addresses.status();
  const addrinfo& a = **addresses;
  Fd fd = stream_socket(a.ai_family);
  if (!fd.open()) return system_error("socket", errno);
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd.get(), a.ai_addr, a.ai_addrlen) != 0) {
    if (errno == EADDRINUSE) return Status(Kind::Busy, "somebody listens at " + to_text(url) + " already");
    return system_error("cannot bind " + to_text(url), errno);
  }
  if (::listen(fd.get(), SOMAXCONN) != 0) return system_error("cannot listen at " + to_text(url), errno);
  return fd;
}

namespace {

Result<Url> to_url(sockaddr_storage& address, socklen_t size, const Scheme* scheme) {
  Url url;
  url.scheme = scheme;
  if (address.ss_family == AF_UNIX) {
    url.name = reinterpret_cast<const sockaddr_un&>(address).sun_path;
    return url;
  }
  char host[NI_MAXHOST];
  if (::getnameinfo(reinterpret_cast<sockaddr*>(&address), size, host, sizeof host, nullptr, 0, NI_NUMERICHOST) != 0)
    return Status(Kind::System, "getnameinfo failed");
  url.host = host;
  const bool v6 = address.ss_family == AF_INET6;
  url.port = ntohs(v6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                      : reinterpret_cast<const sockaddr_in&>(address).sin_port);
  return url;
}

}  // namespace

Result<Url> address_of(int listener, const Scheme* scheme) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return system_error("getsockname", errno);
  return to_url(address, size, scheme);
}

Result<Url> address_of_peer(int connection, const Scheme* scheme) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(connection, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return Status(Kind::Disconnected, std::strerror(errno), errno);
  return to_url(address, size, scheme);
}

Result<Fd> accept_connection(int listener) {
  Fd fd(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (fd.open()) {
    tune(fd.get());
    return fd;
  }
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR || errno == ECONNABORTED)
    return Status(Kind::Busy, "nobody waits");
  return system_error("accept", errno);
}

}  // namespace gt::wire
