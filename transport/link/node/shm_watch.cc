#include "transport/link/node/shm_watch.h"

#include <sys/socket.h>

#include <algorithm>

namespace gt::wire {
namespace {

constexpr uint64_t AnswerWithin_ms = 5000;
constexpr int RetryEvery_ms = 50;

Status gone() { return {Kind::Disconnected, "the peer is gone"}; }

}  // namespace

ShmWatch::ShmWatch(LinkLife& life, ShmSession session, RemoteMapping& peer, ShmWithdrawals& withdrawals,
                   std::function<bool()> awaits)
    : life_(life),
      peer_(peer),
      withdrawals_(withdrawals),
      awaits_(std::move(awaits)),
      side_(session.side),
      dead_ns_(session.dead_ns),
      heartbeat_ms_(std::min<uint64_t>(session.resume.options.heartbeat_ms, dead_ns_ / Ms / 3 + 1)),
      ours_(session.region->shown(side_)),
      theirs_(session.region->shown(1 - side_)),
      plug_(std::move(session.socket), std::move(session.process), std::move(session.resume)) {}

Status ShmWatch::start() {
  if (!stop_.open()) return {Kind::System, "a descriptor cannot be had", EMFILE};
  return thread_.start("gtrace-watch", [this] { watch(); });
}

void ShmWatch::stop() {
  {
    const MutexLock lock(mutex_);
    changed_.notify_all();
  }
  if (const auto socket = plug_.socket(); socket->is_ours()) {
    Word bye;
    bye.kind = Word::Kind::Leave;
    (void)send_word(socket->get(), bye, -1, Deadline(0));
    ::shutdown(socket->get(), SHUT_RDWR);
  }
  stop_.ring();
}

// --- What we ask

Result<bool> ShmWatch::share(SegmentId segment, int memory, uint64_t offset, uint64_t bytes) {
  Word word;
  word.kind = Word::Kind::Share;
  word.segment = segment;
  word.bytes = bytes;
  word.offset = offset;
  return ask(word, memory);
}

void ShmWatch::withdraw(SegmentId segment) {
  Word word;
  word.kind = Word::Kind::Withdraw;
  word.segment = segment;
  (void)ask(word, -1);  // a peer that is gone has let go of it, too
}

// Waits for the peer's answer; for as long as the peer lives when memory is withdrawn, and for a client's: a program
// that a debugger has stopped keeps its session.
Result<bool> ShmWatch::ask(const Word& word, int fd) {
  UniqueLock lock(mutex_);
  Asked& asked = asked_[word.segment] = {word, fd, {}};  // only taken away below
  lock.unlock();
  Status s = say(word, fd);
  lock.lock();
  const auto answered = [&] { return life_.is_ended() || asked.answer.has_value(); };
  if (s.ok() && (word.kind == Word::Kind::Withdraw || side_ == ServerSide))
    changed_.wait(lock, answered);
  else if (s.ok() && !wait_awake(lock, answered))
    s = Status(Kind::Disconnected, "the peer does not answer");
  const std::optional<bool> answer = asked.answer;
  asked_.erase(word.segment);
  lock.unlock();
  if (answer) return *answer;
  life_.end(s.ok() ? gone() : s);
  return life_.why_closed();
}

// Step by step: while this process is stopped, one passes at most.
bool ShmWatch::wait_awake(UniqueLock& lock, const std::function<bool()>& answered) {
  constexpr uint64_t Step_ms = 100;
  for (uint64_t waited_ms = 0; waited_ms < AnswerWithin_ms; waited_ms += Step_ms)
    if (changed_.wait_for(lock, std::chrono::milliseconds(Step_ms), answered)) return true;
  return answered();
}

// By a new socket: what was asked by the old one may not have arrived, nor its answer.
void ShmWatch::ask_again() {
  const auto socket = plug_.socket();
  const MutexLock lock(mutex_);  // so that nobody closes what goes with it
  for (const auto& [segment, asked] : asked_)
    if (!asked.answer) (void)send_word(socket->get(), asked.word, asked.fd, Deadline(0));
}

Status ShmWatch::say(const Word& word, int fd) {
  const auto socket = plug_.socket();
  Status s = descriptors_closed();
  if (socket->is_ours()) s = send_word(socket->get(), word, fd, Deadline::in_ms(AnswerWithin_ms));
  return s.kind() == Kind::Disconnected && plug_.may_return() ? Status() : s;
}

// --- The thread

void ShmWatch::watch() {
  peer_lived_ns_ = monotonic_ns();
  while (!life_.is_ended()) {
    const auto socket = plug_.socket();
    const bool out = plug_.is_out();
    pollfd fds[] = {{out ? -1 : socket->get(), POLLIN | POLLRDHUP, 0},
                    {plug_.process(), POLLIN, 0},
                    {stop_.fd(), POLLIN, 0},
                    {plug_.handover(), POLLIN, 0}};
    const int wait_ms = out && plug_.is_client() ? RetryEvery_ms : static_cast<int>(heartbeat_ms_);
    awake_.sleeps(monotonic_ns(), wait_ms);
    ::poll(fds, 4, wait_ms);
    peer_lived_ns_ = std::max(peer_lived_ns_, awake_.since(monotonic_ns()));
    if (stop_.keep_up(fds[2].revents) == Wake::Kept::Lost) return life_.end(descriptors_closed());
    if (!out) look_at_socket(*socket, fds[0].revents, fds[1].revents);
    if (out && (fds[1].revents & POLLIN) && plug_.is_process()) life_.end(gone());
    if (plug_.is_out() || fds[3].revents) plug_in_again(fds[3].revents);
    beat();
  }
  plug_.give_up();
}

void ShmWatch::look_at_socket(const OwnFd& socket, short socket_events, short process_events) {
  if (!socket.is_ours() || (process_events && !plug_.is_process())) {
    if (!plug_.pull()) life_.end(descriptors_closed());
    return;
  }
  const bool goes_on = !(socket_events & POLLIN) || take_words(socket.get());
  if (process_events) return life_.end(gone());
  if (goes_on && !(socket_events & (POLLRDHUP | POLLHUP | POLLERR))) return;
  if (plug_.peer_is_dead() || !plug_.pull()) life_.end(gone());
}

void ShmWatch::plug_in_again(short handover_events) {
  if (plug_.is_client() ? plug_.reconnect() : handover_events && plug_.take_connection()) return ask_again();
  if (plug_.is_out() && plug_.is_grace_over()) life_.end(plug_.is_client() ? descriptors_closed() : gone());
}

// Shows that we live, and judges whether the peer does. A client always does: its program waits for what the server has
// taken and does not answer. A server only while the client has something to do: who is stopped for a while keeps its
// session.
void ShmWatch::beat() {
  const uint64_t now = monotonic_ns(), theirs = theirs_.beat.load(std::memory_order_relaxed);
  ours_.beat.fetch_add(1, std::memory_order_relaxed);
  const bool judges = side_ == ClientSide || awaits_();
  if (theirs != peer_beat_ || !judges) {
    peer_beat_ = theirs;
    peer_lived_ns_ = now;
  }
  if (now - peer_lived_ns_ > dead_ns_) life_.end({Kind::Disconnected, "the peer does not move"});
}

// False: nothing more will come.
bool ShmWatch::take_words(int socket) {
  while (true) {
    Fd fd;
    const auto word = receive_word(socket, fd);
    if (!word && word.status().kind() == Kind::Disconnected) return false;
    const Status s = !word ? word.status() : *word ? take_word(**word, fd) : Status();
    if (!s.ok()) life_.end(s);
    if (!s.ok() || !*word) return true;
  }
}

Status ShmWatch::take_word(const Word& word, const Fd& fd) {
  switch (word.kind) {
    case Word::Kind::Share:
      return take_segment(word, fd);
    case Word::Kind::Withdraw:
      return withdrawals_.add(word.segment);
    case Word::Kind::Shared:
    case Word::Kind::Withdrawn:
      return take_answer(word), Status();
    case Word::Kind::Leave:
      return expect_end(), Status();
    default:
      return {Kind::Corrupt, "the peer sent an unknown word"};
  }
}

Status ShmWatch::take_segment(const Word& word, const Fd& fd) {
  const bool again = peer_.view({word.segment, 0}, 0) != nullptr;  // the answer was lost
  const Status mapped = again       ? Status()
                        : fd.open() ? peer_.map(word.segment, fd.get(), word.offset, word.bytes)
                                    : Status(Kind::Corrupt, "a shared segment without memory");
  Word answer;
  answer.kind = Word::Kind::Shared;
  answer.segment = word.segment;
  answer.ok = mapped.ok();
  return say(answer);
}

void ShmWatch::take_answer(const Word& word) {
  const auto question = word.kind == Word::Kind::Shared ? Word::Kind::Share : Word::Kind::Withdraw;
  const MutexLock lock(mutex_);
  const auto it = asked_.find(word.segment);
  if (it != asked_.end() && it->second.word.kind == question) it->second.answer = word.ok != 0;
  changed_.notify_all();
}

}  // namespace gt::wire
