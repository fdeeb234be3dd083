#include "transport/gproxy/acceptor.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cctype>
#include <fstream>
#include <utility>

#include "transport/link/hello/sockets.h"

namespace gt::proxy {
namespace {

constexpr std::chrono::milliseconds HelloTime{2000};

std::string process_name(int connection) {
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return "a process";
  std::string name;
  std::ifstream comm(fmt::format("/proc/{}/comm", who.pid));
  std::getline(comm, name);
  for (char& c : name) c = std::isprint(static_cast<unsigned char>(c)) ? c : '?';
  return fmt::format("process {} ({})", who.pid, name.empty() ? "gone" : name);
}

std::string caller_name(int connection, const wire::Url& endpoint) {
  if (endpoint.in_node()) return process_name(connection);
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  char text[INET6_ADDRSTRLEN] = "?";
  ::getpeername(connection, reinterpret_cast<sockaddr*>(&address), &size);
  if (const auto* in = reinterpret_cast<const sockaddr_in*>(&address); address.ss_family == AF_INET) {
    ::inet_ntop(AF_INET, &in->sin_addr, text, sizeof text);
    return fmt::format("{}:{}", text, ntohs(in->sin_port));
  }
  const auto* in6 = reinterpret_cast<const sockaddr_in6*>(&address);
  ::inet_ntop(AF_INET6, &in6->sin6_addr, text, sizeof text);
  return fmt::format("[{}]:{}", text, ntohs(in6->sin6_port));
}

// What a caller says must be what the endpoint is for.
std::optional<wire::Refusal> objection(const wire::Hello& hello, const wire::Url& endpoint) {
  if (hello.version_low > wire::NewestVersion || hello.version_high < wire::OldestVersion) {
    return wire::Refusal::Version;
  }
  const bool tls = endpoint.is_encrypted(), local = endpoint.in_node();
  if (hello.tls != tls) return wire::Refusal::Proof;
  if (hello.proof == wire::Hello::Proof::SameUser && !local) return wire::Refusal::Proof;
  if (hello.proof == wire::Hello::Proof::Certificate && !tls) return wire::Refusal::Proof;
  return {};
}

}  // namespace

Acceptor::~Acceptor() {
  for (const auto& endpoint : endpoints_) {
    if (endpoint->url.in_node()) ::unlink(wire::socket_path(endpoint->url).c_str());
  }
}

Result<wire::Url> Acceptor::open(const wire::Url& url) {
  Result<Fd> listener = wire::listen_on(url);
  if (!listener) return listener.status();
  Result<wire::Url> where = url;
  if (!url.in_node()) where = wire::address_of(listener->get(), url.scheme);
  if (!where) return where.status();
  endpoints_.push_back(std::make_unique<Endpoint>(Endpoint{*where, nullptr}));
  Endpoint& endpoint = *endpoints_.back();
  endpoint.listener = std::make_unique<Listener>(
      loop_, std::move(*listener), [this, &endpoint](Fd connection) { add(std::move(connection), endpoint); });
  return where;
}

void Acceptor::add(Fd connection, const Endpoint& endpoint) {
  if (waiting_.size() >= MostWaiting) drop(waiting_.begin()->first);
  const uint64_t id = next_++;
  Waiting& w = waiting_[id];
  w.endpoint = &endpoint;
  w.caller.connection = std::move(connection);
  w.deadline = loop_.after(HelloTime, [this, id] { drop(id); });
  w.watch = loop_.watch(w.caller.connection.get(), [this, id] { read(id); });
}

void Acceptor::read(uint64_t id) {
  Waiting& w = waiting_.at(id);
  const Result<std::optional<wire::Hello>> hello = w.reader.read(w.caller.connection.get());
  if (!hello) return drop(id);
  if (!hello->has_value()) return;
  w.caller.hello = **hello;
  w.caller.name = caller_name(w.caller.connection.get(), w.endpoint->url);
  if (const auto why = objection(w.caller.hello, w.endpoint->url)) {
    wire::refuse(w.caller.connection.get(), *why);
    return drop(id);
  }
  w.watch = {};
  Caller caller = std::move(w.caller);
  waiting_.erase(id);
  welcome_(std::move(caller));
}

void Acceptor::drop(uint64_t id) {
  ++turned_away_;
  waiting_.erase(id);
}

}  // namespace gt::proxy
