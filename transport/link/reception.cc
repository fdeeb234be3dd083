#include "transport/link/reception.h"

#include <algorithm>

#include "transport/link/hello/handover.h"
#include "transport/link/hello/sockets.h"

namespace gt::wire {

void Reception::listen(Fd listener, const Scheme* scheme) { listeners_.push_back({std::move(listener), scheme}); }

int Reception::next_timeout_ms(Deadline until) const {
  int left = until.left_ms();
  for (const Stranger& s : strangers_) left = std::min(left, s.deadline.left_ms());
  return left;
}

void Reception::serve(int wake, int timeout_ms) {
  const Deadline until = Deadline::in_ms(timeout_ms < 0 ? uint64_t{1} << 40 : static_cast<uint64_t>(timeout_ms));
  std::vector<pollfd> fds;
  for (bool called = false; !called && !until.over();) {
    fds.assign(1, {wake, POLLIN, 0});
    for (const Listener& l : listeners_) fds.push_back({l.fd.get(), POLLIN, 0});
    for (const Stranger& s : strangers_) fds.push_back({s.fd.get(), POLLIN, 0});
    for (const auto& [id, worker] : sessions_) fds.push_back({worker.get(), 0, 0});
    ::poll(fds.data(), fds.size(), next_timeout_ms(until));
    const pollfd* fd = fds.data();
    called = fd++->revents != 0;
    const pollfd* const at_listeners = fd;
    fd += listeners_.size();
    std::erase_if(strangers_, [&](Stranger& s) { return (fd++->revents && !hear(s)) || s.deadline.over(); });
    std::erase_if(sessions_, [&](const auto& s) {  // one that began just now is not in the list
      const bool listed = fd < fds.data() + fds.size() && fd->fd == s.second.get();
      return listed && fd++->revents != 0;
    });
    for (size_t i = 0; i < listeners_.size(); ++i)
      if (at_listeners[i].revents) take(listeners_[i]);
  }
}

void Reception::take(const Listener& listener) {
  constexpr int Turns = 16;  // before others are heard
  for (int turn = 0; turn < Turns; ++turn) {
    auto connection = accept_connection(listener.fd.get());
    if (!connection) return;
    if (strangers_.size() >= limits_.strangers) strangers_.erase(strangers_.begin());
    strangers_.push_back({std::move(*connection), listener.scheme, {}, Deadline::in_ms(limits_.hello_ms)});
  }
}

bool Reception::hear(Stranger& stranger) {
  const auto hello = stranger.reader.read(stranger.fd.get());
  if (!hello) return false;
  if (!*hello) return true;
  direct(stranger, **hello);
  return false;
}

void Reception::direct(const Stranger& stranger, const Hello& hello) {
  const int fd = stranger.fd.get();
  if (hello.tls != stranger.scheme->is_encrypted) return refuse(fd, Refusal::Proof);
  auto session = sessions_.find(hello.session);
  if (hello.purpose != Hello::Purpose::Session) {
    if (session == sessions_.end()) return refuse(fd, Refusal::NoSession);
    const Status handed = hand_over(session->second.get(), fd, hello);
    if (!handed.ok()) refuse(fd, handed.kind() == Kind::Busy ? Refusal::Busy : Refusal::NoSession);
    return;
  }
  if (session != sessions_.end()) return refuse(fd, Refusal::Busy);
  auto worker = new_session_(hello, fd);
  if (!worker) return refuse(fd, worker.status().kind() == Kind::Busy ? Refusal::Busy : Refusal::Draining);
  if (!hand_over(worker->get(), fd, hello).ok()) return refuse(fd, Refusal::Busy);
  sessions_.emplace(hello.session, std::move(*worker));
}

}  // namespace gt::wire
