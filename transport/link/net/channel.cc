#include "transport/link/net/channel.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

namespace gt::wire {
namespace {

constexpr size_t AckEvery = size_t{256} << 10;  // bytes
constexpr uint64_t Hold_ns = 50'000;
constexpr uint64_t Unconnected_ms = 100;
constexpr int NotForThread = 32 << 10;              // bytes that a helper takes without the channel's thread
constexpr uint64_t HelpSpin_ns = Spin_ns + 30'000;  // a round trip through sockets takes that inside a node

OwnFd new_timer() { return OwnFd(high_fd(Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)))); }

}  // namespace

Channel::Channel(ChannelUser& user, uint64_t salt, bool data, Times times)
    : user_(user), salt_(salt), times_(times), reader_(salt, data), timer_(new_timer()) {}

Channel::~Channel() = default;

Status Channel::attach(Socket socket, uint64_t peer_received) {
  const MutexLock lock(mutex_);
  if (ended_) return {Kind::Disconnected, "the link is closed"};
  if (!out_.rewind(peer_received)) return {Kind::Corrupt, "the peer claims to have what it was not sent"};
  const uint64_t now = monotonic_ns();
  heard_ns_ = now;
  detach_ = broken_ = want_out_ = false;
  socket_ = std::make_shared<Socket>(std::move(socket));
  user_.acknowledged(*this, now, NoSample);
  write();
  changed_.notify_all();
  wake();
  return {};
}

Result<uint64_t> Channel::detach(Deadline deadline) {
  UniqueLock lock(mutex_);
  detach_ = true;
  wake();
  while (socket_ && !ended_ && !deadline.over())
    changed_.wait_for(lock, std::chrono::milliseconds(deadline.left_ms()));
  if (socket_ || ended_) return Status(Kind::Disconnected, "the link is closed, or busy");
  return received();
}

bool Channel::is_lost() {
  const MutexLock lock(mutex_);
  return !socket_ && !ended_;
}

void Channel::beat() {
  const MutexLock lock(mutex_);
  if (!socket_ || ended_ || !out_.all_written() || monotonic_ns() < wrote_ns_ + times_.heartbeat_ns) return;
  append(FrameType::Beat);
  write();
}

Status Channel::start(const char* name) {
  heard_ns_ = monotonic_ns();
  if (!wake_.open() || !timer_.open()) return {Kind::System, "a descriptor cannot be had"};
  GT_TRY(thread_.start(name, [this] { run(); }));
  started_ = true;
  return {};
}

void Channel::end() {
  const MutexLock lock(mutex_);
  ended_ = true;
  if (!started_) {
    quiet_ = true;
    socket_.reset();
  }
  changed_.notify_all();
  wake();
}

void Channel::join() { thread_.join(); }

void Channel::append(FrameType type, ByteView head, size_t more_bytes) {
  FrameHeader header;
  header.length = static_cast<uint32_t>(head.size() + more_bytes);
  header.type = type;
  header.position = out_.end();
  header.received = told_ = received();
  header.check = header_check(header, salt_);
  out_.copy({reinterpret_cast<const uint8_t*>(&header), sizeof header});
  out_.copy(head);
}

// As much as the socket takes; the channel's thread writes the rest when there is room.
void Channel::write() {
  if (ended_ || !socket_ || broken_ || want_out_) return;
  const uint64_t now = monotonic_ns();
  user_.fill(*this, now);
  while (!out_.all_written()) {
    iovec parts[32];
    const ssize_t n = socket_->write({parts, out_.unwritten(parts)});
    if (n == Socket::Untouchable && out_.keep_next()) continue;  // copying touches it as a driver would
    if (n <= 0) {
      (n == 0 ? want_out_ : broken_) = true;
      if (!thread_.is_this()) wake();  // itself it looks before it sleeps
      return;
    }
    out_.wrote(static_cast<size_t>(n));
    wrote_ns_ = now;
    user_.fill(*this, now);
  }
}

uint64_t Channel::network_delay_ns() const {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (!socket_ || ::getsockopt(socket_->fd(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  return uint64_t{info.tcpi_rtt} * 1000;
}

void Channel::hold() {
  if (timer_armed_ || !wake_.is_ours()) return;
  timer_armed_ = true;
  const itimerspec when{{0, 0}, {0, Hold_ns}};
  ::timerfd_settime(timer_.get(), 0, &when, nullptr);
}

void Channel::send_ack() {
  const AckHead head{owed_since_ns_ ? monotonic_ns() - owed_since_ns_ : NoSample};
  owed_since_ns_ = 0;
  append(FrameType::Ack, {reinterpret_cast<const uint8_t*>(&head), sizeof head});
}

Status Channel::acknowledge(uint64_t position, uint64_t hold_ns) {
  const MutexLock lock(mutex_);
  const uint64_t before = out_.acknowledged();
  if (!out_.acknowledge(position)) return {Kind::Corrupt, "the peer acknowledges what it was not sent"};
  if (out_.acknowledged() == before && hold_ns == NoSample) return {};
  user_.acknowledged(*this, monotonic_ns(), hold_ns);
  write();
  changed_.notify_all();
  return {};
}

void Channel::run() {
  while (step()) {
  }
  {
    const MutexLock turn(turn_);  // no helper is in a handler, nor will be
    quit();
  }
  user_.channel_over();
}

bool Channel::step() {
  std::shared_ptr<Socket> socket;
  bool given_up = false, drained = true;
  {
    const MutexLock lock(mutex_);
    if (ended_) return false;
    socket = socket_;
    given_up = socket && (broken_ || detach_);
  }
  {
    std::unique_lock turn(turn_, std::try_to_lock);  // else who helps reads
    if (given_up && !turn) turn.lock();
    if (socket && turn) drained = read_some(*socket);  // also of a broken one: what arrived before counts
    if (given_up) lose();
  }
  const bool all_out = keep_up(drained);
  user_.channel_ticks();
  const bool came = drained && all_out && socket && spin(*socket);
  if (drained && !came && !user_.channel_idle(Idle::Sleeps)) sleep(socket ? socket->fd() : -1);
  return true;
}

// False: there may be more.
bool Channel::read_some(Socket& socket) {
  const uint64_t before = received();
  const auto outcome = reader_.read(socket, user_);
  if (received() != before) heard_ns_ = monotonic_ns();
  switch (outcome) {
    case FrameReader::Outcome::Drained:
      return true;
    case FrameReader::Outcome::More:
      return false;
    case FrameReader::Outcome::Over:
      lose();
      return false;
    case FrameReader::Outcome::Bad:
      user_.channel_failed(reader_.error());
      lose();
      return false;
  }
  return true;
}

// Frames come in rows, and sleeping costs more than the pause between them. True: something came.
bool Channel::spin(Socket& socket) {
  uint64_t until = heard_ns() + Spin_ns;
  const auto helped = [this] { return helpers_.load(std::memory_order_relaxed) > 0; };
  if (helped() || monotonic_ns() >= until || !thread_spins_.allows()) return false;
  const MutexLock turn(turn_);
  const uint64_t before = received();
  bool came = false, answered = false;
  while (!came && monotonic_ns() < until && !waking_.load(std::memory_order_relaxed) && !helped()) {
    came = !read_some(socket) || received() != before;
    if (!came && user_.channel_idle(Idle::Looks)) answered = true, until = monotonic_ns() + Spin_ns;
  }
  if (came || answered || !helped()) thread_spins_.spun(came || answered);
  return came;
}

void Channel::help(const std::function<bool()>& done) {
  bool over = done(), can = true;
  if (over || !helper_spins_.allows()) return;
  count_helpers(1);
  const uint64_t until = monotonic_ns() + HelpSpin_ns;
  while (!over && can && monotonic_ns() < until) {
    if (const std::unique_lock turn(turn_, std::try_to_lock); turn)
      can = read_for_thread();
    else
      pause();
    over = done();
  }
  count_helpers(-1);
  can ? helper_spins_.spun(over) : wake();
}

// While there are any, a few bytes do not wake the channel's thread; it hears of what is left when the last one goes.
void Channel::count_helpers(int more) {
  const MutexLock lock(mutex_);
  const int before = helpers_.fetch_add(more, std::memory_order_relaxed);
  if (socket_ && (before == 0 || before + more == 0)) socket_->wake_from(before + more == 0 ? 1 : NotForThread);
}

// What a helper reads.
// False: there is something that only the channel's thread can deal with.
bool Channel::read_for_thread() {
  std::shared_ptr<Socket> socket;
  {
    const MutexLock lock(mutex_);
    if (ended_ || broken_ || detach_ || !socket_) return false;
    socket = socket_;
  }
  const uint64_t before = received();
  auto outcome = FrameReader::Outcome::More;
  helper_.store(::pthread_self(), std::memory_order_relaxed);
  while (outcome == FrameReader::Outcome::More) outcome = reader_.read(*socket, user_);
  helper_.store({}, std::memory_order_relaxed);
  if (received() != before) heard_ns_ = monotonic_ns();
  return outcome == FrameReader::Outcome::Drained;
}

// Acknowledges, shows that we live, and writes what senders left. False: some of it waits until the socket has room.
bool Channel::keep_up(bool drained) {
  const uint64_t now = monotonic_ns();
  UniqueLock lock(mutex_);
  if (!socket_ || ended_) return true;
  if (is_silent(now)) {
    lock.unlock();
    lose();
    return true;
  }
  if ((owed_since_ns_ && drained) || received() - told_ >= AckEvery) send_ack();
  want_out_ = false;
  write();
  const bool all_out = !want_out_;
  lock.unlock();
  beat();
  return all_out;
}

bool Channel::is_silent(uint64_t now_ns) {
  constexpr int Handled_ms = 1000;
  awake_since_ns_ = awake_.since(now_ns);
  awake_.sleeps(now_ns, Handled_ms);  // or is in a handler
  return now_ns > silent_since_ns() + times_.dead_ns;
}

void Channel::lose() {
  {
    const MutexLock lock(mutex_);
    if (!socket_) return;
    socket_->shut_down();
    socket_.reset();
    changed_.notify_all();
    if (ended_) return;
  }
  user_.channel_lost();
}

void Channel::sleep(int fd) {
  short events = POLLIN;
  bool timer = false;
  int wait_ms = 0;
  {
    const MutexLock lock(mutex_);
    if (ended_ || (broken_ && socket_) || (fd >= 0) != static_cast<bool>(socket_)) return;
    if (want_out_) events |= POLLOUT;
    const uint64_t now = monotonic_ns();
    wait_ms = sleep_ms(now, fd >= 0);
    awake_.sleeps(now, wait_ms);
  }
  pollfd fds[] = {{fd, events, 0}, {wake_.fd(), POLLIN, 0}, {timer_.get(), POLLIN, 0}};
  ::poll(fds, 3, wait_ms);
  const Wake::Kept kept = wake_.keep_up(fds[1].revents);
  if (kept == Wake::Kept::Lost || (kept == Wake::Kept::Renewed && !renew_timer()))
    return user_.channel_failed(descriptors_closed());
  if (fds[1].revents) {
    wake_.drain();
    waking_ = false;
  }
  timer = fds[2].revents != 0;
  if (!timer) return;
  uint64_t count;
  (void)!::read(timer_.get(), &count, sizeof count);
  const MutexLock lock(mutex_);
  timer_armed_ = false;
}

// Who has closed the one has closed the other. Nothing is lost: what was to be seen to is looked for after every sleep.
bool Channel::renew_timer() {
  const MutexLock lock(mutex_);
  timer_.forget();
  timer_ = new_timer();
  timer_armed_ = waking_ = false;
  return timer_.open();
}

int Channel::sleep_ms(uint64_t now_ns, bool connected) const {
  if (!connected) return Unconnected_ms;
  const uint64_t due = std::min(wrote_ns_ + times_.heartbeat_ns, silent_since_ns() + times_.dead_ns + Ms);
  return due <= now_ns ? 1 : static_cast<int>((due - now_ns) / Ms + 1);
}

void Channel::wake() {
  if (waking_.exchange(true)) return;
  wake_.ring();
}

// Nothing of the program's memory is touched after this.
void Channel::quit() {
  const MutexLock lock(mutex_);
  if (socket_) socket_->shut_down();
  socket_.reset();
  out_.drop_all();
  quiet_ = true;
  changed_.notify_all();
}

}  // namespace gt::wire
