#include "tests/relay/relay.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <list>
#include <random>
#include <vector>

#include "traces/base/clock.h"

namespace gt::relay {
namespace {

constexpr size_t MostQueued = size_t{8} << 20;

sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

struct Parcel {
  uint64_t due_ns;
  std::vector<char> bytes;
  size_t sent = 0;
};

struct Direction {
  int from, to;
  std::deque<Parcel> queue;
  size_t queued = 0;
  uint64_t free_ns = 0;  // when the line is free again, with a rate
  bool over = false;

  bool wants_input() const { return !over && queued < MostQueued; }
};

struct Connection {
  Direction there, back;
  bool lost_bytes = false;  // swallowed some: it cannot go on
};

}  // namespace

struct Relay::State {
  std::list<Connection> connections;
  std::mt19937 random{7};

  void drop(std::list<Connection>::iterator c) {
    ::close(c->there.from);
    ::close(c->there.to);
    connections.erase(c);
  }
};

Relay::Relay(uint16_t target_port) : target_port_(target_port) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  (void)::bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
  (void)::listen(listener_, 64);
  (void)::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  thread_ = std::thread([this] { run(); });
}

Relay::~Relay() {
  stop_ = true;
  poke();
  thread_.join();
  ::close(listener_);
  ::close(wake_);
}

void Relay::heal() {
  cut_ = swallow_ = false;
  poke();
}

void Relay::poke() {
  const uint64_t one = 1;
  (void)!::write(wake_, &one, sizeof one);
}

namespace {

// False: the connection is over.
bool take_in(Direction& d, uint64_t delay_ns, uint64_t rate, bool swallow, bool& lost, std::atomic<uint64_t>& total) {
  std::vector<char> bytes(size_t{64} << 10);
  const ssize_t n = ::recv(d.from, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  if (n == 0) {
    d.over = true;
    return true;
  }
  if (swallow) {
    lost = true;
    return true;
  }
  bytes.resize(static_cast<size_t>(n));
  total += bytes.size();
  const uint64_t now = monotonic_ns();
  d.free_ns = std::max(d.free_ns, now);
  if (rate) d.free_ns += bytes.size() * 1'000'000'000 / rate;
  d.queued += bytes.size();
  d.queue.push_back({d.free_ns + delay_ns, std::move(bytes)});
  return true;
}

bool give_out(Direction& d) {
  const uint64_t now = monotonic_ns();
  while (!d.queue.empty() && d.queue.front().due_ns <= now) {
    Parcel& p = d.queue.front();
    const ssize_t n = ::send(d.to, p.bytes.data() + p.sent, p.bytes.size() - p.sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    p.sent += static_cast<size_t>(n);
    d.queued -= static_cast<size_t>(n);
    if (p.sent == p.bytes.size()) d.queue.pop_front();
  }
  if (d.over && d.queue.empty()) ::shutdown(d.to, SHUT_WR);
  return true;
}

int connect_target(uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  ::close(fd);
  return -1;
}

}  // namespace

void Relay::run() {
  State state;
  auto& connections = state.connections;
  while (!stop_) {
    std::vector<pollfd> fds{{wake_, POLLIN, 0}, {listener_, POLLIN, 0}};
    uint64_t due = monotonic_ns() + 50'000'000;
    for (Connection& c : connections) {
      for (Direction* d : {&c.there, &c.back}) {
        short events = d->wants_input() ? POLLIN : 0;
        Direction* const other = d == &c.there ? &c.back : &c.there;
        if (!other->queue.empty() && other->queue.front().due_ns <= monotonic_ns()) events |= POLLOUT;
        if (!d->queue.empty()) due = std::min(due, std::max(d->queue.front().due_ns, monotonic_ns()));
        fds.push_back({d->from, events, 0});
      }
    }
    const uint64_t now = monotonic_ns();
    const timespec wait{0, due > now ? static_cast<long>(due - now) : 0};
    ::ppoll(fds.data(), fds.size(), &wait, nullptr);
    uint64_t count;
    if (fds[0].revents) (void)!::read(wake_, &count, sizeof count);
    size_t i = 2;
    const bool insert = garbage_.exchange(false);
    for (auto c = connections.begin(); c != connections.end();) {
      bool alive = !cut_ && !(c->lost_bytes && !swallow_) && !(c->there.over && c->back.over);
      if (insert) {
        Parcel p{0, std::vector<char>(100'000)};
        for (char& b : p.bytes) b = static_cast<char>(state.random());
        c->there.queued += p.bytes.size();
        c->there.queue.push_back(std::move(p));
      }
      for (Direction* d : {&c->there, &c->back}) {
        const short events = fds[i++].revents;
        if (alive && (events & (POLLIN | POLLHUP | POLLERR)) && d->wants_input())
          alive = take_in(*d, delay_ns_, rate_, swallow_, c->lost_bytes, bytes_);
        if (alive && !swallow_) alive = give_out(*d);
      }
      const auto old = c++;
      if (!alive) state.drop(old);
    }
    if (!(fds[1].revents & POLLIN)) continue;
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    const int target = fd < 0 || cut_ ? -1 : connect_target(target_port_);
    if (target < 0) {
      if (fd >= 0) ::close(fd);
      continue;
    }
    const int on = 1;
    for (const int s : {fd, target}) ::setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    connections.push_back({{fd, target, {}}, {target, fd, {}}});
  }
  while (!connections.empty()) state.drop(connections.begin());
}

}  // namespace gt::relay
