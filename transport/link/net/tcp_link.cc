// What a program calls, and how a link ends. resume.cc has how it goes on.
#include "transport/link/net/tcp_link.h"

#include <sys/mman.h>

namespace gt::wire {
namespace {

constexpr uint64_t CloseWithin_ms = 2000;

Status closed() { return {Kind::Disconnected, "the link is closed"}; }

Channel::Times times(const Session& s) {
  const uint64_t dead_ms = std::min(s.dead_ms, s.grace_ms);
  return {std::min<uint64_t>(s.options.heartbeat_ms, dead_ms / 3 + 1) * Ms, dead_ms * Ms};
}

}  // namespace

TcpLink::TcpLink(Session session)
    : session_(std::move(session)),
      times_(times(session_)),
      control_(*this, stream_salt(session_.id, false), times_),
      data_(*this, stream_salt(session_.id, true), times_) {}

TcpLink::~TcpLink() {
  if (mark_.in_child()) return;
  close();
  end(closed());
  control_.channel().join();
  data_.channel().join();
  reconnector_.join();
}

Status TcpLink::attach(Agreed control, Agreed data) {
  GT_TRY(control_.channel().attach(std::move(control.socket), control.peer_received));
  return data_.channel().attach(std::move(data.socket), data.peer_received);
}

Status TcpLink::start(LinkHandler& handler) {
  handler_ = &handler;
  if (!news_.open() || !ended_.open()) return {Kind::System, "a descriptor cannot be had", EMFILE};
  started_ = true;
  Status s = control_.channel().start("gtrace-control");
  if (s.ok()) s = data_.channel().start("gtrace-data");
  if (s.ok()) s = reconnector_.start("gt-reconnector", [this] { keep(); });
  if (!s.ok()) end(s);
  return s;
}

// --- The end

void TcpLink::close() {
  if (mark_.in_child()) return;
  {
    const MutexLock lock(mutex_);
    if (state_ == State::Open && started_) {
      why_ = closed();
      give_up_ns_ = monotonic_ns() + CloseWithin_ms * Ms;
      state_ = State::Closing;  // last: who sees it reads the others
    }
  }
  if (!started_) return end(closed());
  control_.say_bye();
  data_.say_bye();
  if (in_handler()) return;
  UniqueLock lock(mutex_);
  const auto is_over = [&]() GT_REQUIRES(mutex_) { return ended_channels_ == 2; };
  const Deadline deadline(give_up_ns_ ? give_up_ns_ : monotonic_ns() + CloseWithin_ms * Ms);
  if (over_.wait_for(lock, std::chrono::milliseconds(deadline.left_ms()), is_over)) return;
  lock.unlock();
  end(closed());
}

bool TcpLink::said_all() { return control_.all_arrived() && data_.all_arrived(); }

void TcpLink::ticks() {
  if (state_ != State::Closing) return;
  if (said_all() || monotonic_ns() > give_up_ns_) end(closed());
}

void TcpLink::peer_says_bye() {
  Channel& channel = control_.channel().is_this_thread() ? control_.channel() : data_.channel();
  {
    const MutexLock lock(channel.mutex());
    channel.send_ack();
    channel.write();
  }
  bool both = false;
  {
    const MutexLock lock(mutex_);
    both = ++peer_byes_ == 2;
  }
  if (both) end({Kind::Disconnected, "the peer closed the link"});
}

void TcpLink::end(const Status& why) {
  {
    const MutexLock lock(mutex_);
    if (state_ == State::Ended) return;
    if (state_ == State::Open) why_ = why;
    state_ = State::Ended;
  }
  control_.channel().end();
  data_.channel().end();
  ended_.ring();
}

void TcpLink::channel_has_ended() {
  {
    const MutexLock lock(mutex_);
    if (ended_channels_ + 1 < 2) {
      ++ended_channels_;
      return;
    }
  }
  handler_->on_closed(why_closed());
  const MutexLock lock(mutex_);
  ++ended_channels_;
  over_.notify_all();
}

Status TcpLink::why_closed() {
  const MutexLock lock(mutex_);
  return why_.ok() ? closed() : why_;
}

bool TcpLink::is_closed() const { return mark_.in_child() || state_ != State::Open; }

// --- Control

Status TcpLink::send(std::span<const ByteView> parts, bool more) {
  return mark_.in_child() ? closed() : control_.send(parts, more);
}
Status TcpLink::push() { return mark_.in_child() ? closed() : control_.push(); }
void TcpLink::help(const std::function<bool()>& done) {
  if (mark_.in_child() || in_handler() || !control_.push().ok()) return;
  control_.channel().help(done);
}

// --- Memory

Result<SegmentId> TcpLink::expose(void* base, size_t bytes) {
  if (is_closed()) return closed();
  return segments_.add(base, bytes);
}

Result<SegmentId> TcpLink::expose_shared(int, size_t, void* base, size_t bytes) { return expose(base, bytes); }

Result<SegmentId> TcpLink::allocate(size_t bytes, void** base) {
  if (is_closed()) return closed();
  void* const p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return system_error("memory for a link", errno);
  *base = p;
  return segments_.add(p, bytes, true);
}

Status TcpLink::withdraw(SegmentId segment) {
  if (mark_.in_child()) return closed();
  const Segments::Memory memory = segments_.withdraw(segment);
  if (!memory.base) return {Kind::Invalid, "no such segment"};
  data_.forget(memory);
  Segments::release(memory);
  return {};
}

// --- Data

Ticket TcpLink::put(const void* from, Address to, size_t bytes) {
  return mark_.in_child() ? 0 : data_.put(from, to, bytes, {});
}
Ticket TcpLink::put(const void* from, Address to, size_t bytes, Notice notice) {
  return mark_.in_child() ? 0 : data_.put(from, to, bytes, notice);
}
Ticket TcpLink::get(void* to, Address from, size_t bytes) { return mark_.in_child() ? 0 : data_.get(to, from, bytes); }
bool TcpLink::test(Ticket ticket) { return mark_.in_child() || data_.test(ticket); }
Status TcpLink::wait(Ticket ticket) { return mark_.in_child() ? closed() : data_.wait(ticket); }
Status TcpLink::flush() { return mark_.in_child() ? closed() : data_.flush(); }

}  // namespace gt::wire
