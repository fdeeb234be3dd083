#include "tracer/gtrace/view/page_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace gt::tracer::view {
namespace {

std::string head(std::string_view status, std::string_view type, size_t bytes) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\n"
      "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n",
      status, type, bytes);
}

Answer refusal(std::string_view status, std::string_view text) {
  return {head(status, "text/plain", text.size()) + std::string(text), false};
}

// Takes as long for any `given` of one length.
bool is_secret(std::string_view given, std::string_view secret) {
  if (given.size() != secret.size()) return false;
  unsigned differing = 0;
  for (size_t i = 0; i < secret.size(); ++i) differing |= static_cast<unsigned>(given[i] ^ secret[i]);
  return differing == 0;
}

bool later(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

Result<std::string> random_path() {
  std::array<unsigned char, 16> bits{};
  if (::getrandom(bits.data(), bits.size(), 0) != static_cast<ssize_t>(bits.size()))
    return system_error("no random numbers", errno);
  std::string path = "/";
  for (const unsigned char b : bits) path += fmt::format("{:02x}", b);
  return path + "/";
}

}  // namespace

Answer answer_to(std::string_view request, std::string_view path, size_t page_bytes) {
  const std::string_view line = request.substr(0, request.find_first_of("\r\n"));
  const size_t space = line.find(' ');
  const std::string_view method = line.substr(0, space);
  if (space == line.npos) return refusal("400 Bad Request", "no request\n");
  if (method != "GET" && method != "HEAD") return refusal("405 Method Not Allowed", "only GET\n");
  const std::string_view rest = line.substr(space + 1);
  if (!is_secret(rest.substr(0, rest.find(' ')), path)) return refusal("404 Not Found", "not here\n");
  return {head("200 OK", "text/html", page_bytes), method == "GET"};
}

PageServer::PageServer(Fd listener, uint16_t port, std::string path)
    : listener_(std::move(listener)), port_(port), path_(std::move(path)) {}

Result<PageServer> PageServer::open(uint16_t port) {
  Result<std::string> path = random_path();
  if (!path) return path.status();
  Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int yes = 1;
  socklen_t size = sizeof at;
  const bool listens =
      listener.open() && ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
      ::bind(listener.get(), reinterpret_cast<sockaddr*>(&at), sizeof at) == 0 && ::listen(listener.get(), 16) == 0 &&
      ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&at), &size) == 0;
  if (!listens) return system_error(fmt::format("cannot serve at port {} of 127.0.0.1", port), errno);
  return PageServer(std::move(listener), ntohs(at.sin_port), std::move(*path));
}

std::string PageServer::address() const { return fmt::format("http://127.0.0.1:{}{}", port_, path_); }

void PageServer::accept_all() {
  for (;;) {
    Fd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!connection.open()) return;
    if (exchanges_.size() >= MostExchanges) exchanges_.pop_front();
    exchanges_.push_back({std::move(connection), Clock::now() + RequestTime, {}});
  }
}

bool PageServer::read(Exchange& e, size_t page_bytes) const {
  std::array<char, 4096> part{};
  const ssize_t n = ::recv(e.connection.get(), part.data(), part.size(), 0);
  if (n <= 0) return n < 0 && later(errno);
  e.request.append(part.data(), static_cast<size_t>(n));
  const bool whole = e.request.find("\r\n\r\n") != e.request.npos || e.request.find("\n\n") != e.request.npos;
  if (!whole && e.request.size() <= LongestRequest) return true;
  e.answer =
      whole ? answer_to(e.request, path_, page_bytes) : refusal("431 Request Header Fields Too Large", "too long\n");
  e.deadline = Clock::now() + ReaderTime;
  return true;
}

bool PageServer::write(Exchange& e, const std::string& page) const {
  const bool in_head = e.sent < e.answer.head.size();
  const std::string_view text = in_head ? std::string_view(e.answer.head) : page;
  const size_t at = in_head ? e.sent : e.sent - e.answer.head.size();
  const ssize_t n = ::send(e.connection.get(), text.data() + at, text.size() - at, MSG_NOSIGNAL);
  if (n < 0) return later(errno);
  e.sent += static_cast<size_t>(n);
  e.deadline = Clock::now() + ReaderTime;
  if (e.sent < e.answer.head.size() + (e.answer.with_page ? page.size() : 0)) return true;
  // What the client has not read would be lost if anything came that we never read: it closes first, or its time is up.
  ::shutdown(e.connection.get(), SHUT_WR);
  e.deadline = Clock::now() + std::chrono::seconds(2);
  return true;
}

bool PageServer::goes_on(Exchange& e, const std::string& page) const {
  if (e.answer.head.empty()) return read(e, page.size());
  const size_t all = e.answer.head.size() + (e.answer.with_page ? page.size() : 0);
  if (e.sent < all) return write(e, page);
  std::array<char, 4096> rest{};
  const ssize_t n = ::recv(e.connection.get(), rest.data(), rest.size(), 0);
  return n > 0 || (n < 0 && later(errno));
}

Status PageServer::serve(const std::string& page, int stop) {
  for (;;) {
    std::vector<pollfd> watched{{stop, POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    for (const Exchange& e : exchanges_) {
      const bool writes =
          !e.answer.head.empty() && e.sent < e.answer.head.size() + (e.answer.with_page ? page.size() : 0);
      watched.push_back({e.connection.get(), static_cast<short>(writes ? POLLOUT : POLLIN), 0});
    }
    const int ready = ::poll(watched.data(), watched.size(), exchanges_.empty() ? -1 : 1000);
    if (ready < 0 && errno != EINTR) return system_error("cannot serve: poll", errno);
    if (watched[0].revents != 0) return {};
    const Clock::time_point now = Clock::now();
    size_t i = 2;
    for (auto e = exchanges_.begin(); e != exchanges_.end(); ++i) {
      const bool on = now < e->deadline && (watched[i].revents == 0 || goes_on(*e, page));
      e = on ? std::next(e) : exchanges_.erase(e);
    }
    if (watched[1].revents != 0) accept_all();
  }
}

}  // namespace gt::tracer::view
