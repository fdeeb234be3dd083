#include "transport/gproxy/text_server.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace gt::proxy {
namespace {

constexpr std::chrono::milliseconds ExchangeTime{2000};

bool is_same_user(int connection) {
  ucred who{};
  socklen_t size = sizeof who;
  return ::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 &&
         (who.uid == ::geteuid() || who.uid == 0);
}

std::string http(std::string_view status, std::string_view body) {
  return fmt::format("HTTP/1.0 {}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\n\r\n{}", status,
                     body.size(), body);
}

}  // namespace

TextServer::TextServer(EventLoop& loop, Fd listener, Style style, std::function<void()> refresh,
                       std::function<std::string()> text, std::chrono::milliseconds moment)
    : loop_(loop),
      style_(style),
      refresh_(std::move(refresh)),
      text_(std::move(text)),
      moment_(moment),
      listener_(loop, std::move(listener), [this](Fd connection) { add(std::move(connection)); }) {}

void TextServer::add(Fd connection) {
  if (style_ == Style::SameUser && !is_same_user(connection.get())) return;
  if (exchanges_.size() >= MostExchanges) exchanges_.erase(exchanges_.begin());
  const uint64_t id = next_++;
  Exchange& e = exchanges_[id];
  e.connection = std::move(connection);
  e.deadline = loop_.after(ExchangeTime, [this, id] { exchanges_.erase(id); });
  if (style_ == Style::SameUser) return answer(id);
  e.watch = loop_.watch(e.connection.get(), [this, id] { read(id); });
}

void TextServer::read(uint64_t id) {
  Exchange& e = exchanges_.at(id);
  std::array<char, 1024> part;
  const ssize_t n = ::recv(e.connection.get(), part.data(), part.size(), MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) return void(exchanges_.erase(id));
  e.request.append(part.data(), static_cast<size_t>(n));
  const bool whole = e.request.find("\r\n\r\n") != e.request.npos || e.request.find("\n\n") != e.request.npos;
  if (whole) return answer(id);
  if (e.request.size() > LongestRequest) reply(id, http("400 Bad Request", "too long\n"));
}

std::string TextServer::http_answer(std::string_view request) const {
  const std::string_view line = request.substr(0, request.find_first_of("\r\n"));
  if (!line.starts_with("GET ")) return http("405 Method Not Allowed", "only GET\n");
  const std::string_view path = line.substr(4, line.find(' ', 4) - 4);
  if (path == "/metrics" || path == "/") return http("200 OK", text_());
  return http("404 Not Found", "there is /metrics\n");
}

void TextServer::answer(uint64_t id) {
  Exchange& e = exchanges_.at(id);
  e.watch = {};
  refresh_();
  e.refreshed = loop_.after(moment_, [this, id] {
    reply(id, style_ == Style::Http ? http_answer(exchanges_.at(id).request) : text_());
  });
}

void TextServer::reply(uint64_t id, std::string answer) {
  Exchange& e = exchanges_.at(id);
  e.answer = std::move(answer);
  e.watch = {};
  e.watch = loop_.watch(e.connection.get(), [this, id] { write(id); }, EPOLLOUT);
}

void TextServer::write(uint64_t id) {
  Exchange& e = exchanges_.at(id);
  const size_t rest = e.answer.size() - e.sent;
  const ssize_t n = ::send(e.connection.get(), e.answer.data() + e.sent, rest, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n < 0 || static_cast<size_t>(n) == rest) return void(exchanges_.erase(id));
  e.sent += static_cast<size_t>(n);
}

}  // namespace gt::proxy
