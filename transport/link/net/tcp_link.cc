// What a program calls, and how a link ends. resume.cc has how it goes on.
#include "transport/link/net/tcp_link.h"

#include <sys/mman.h>

namespace gt::wire {
namespace {

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
  if (life_.in_child()) return;
  close();
  control_.channel().join();
  data_.channel().join();
  reconnector_.join();
}

Status TcpLink::attach(Agreed control, Agreed data) {
  GT_TRY(control_.channel().attach(std::move(control.socket), control.peer_received));
  return data_.channel().attach(std::move(data.socket), data.peer_received);
}

Status TcpLink::start(LinkHandler& handler) {
  if (!news_.open() || !ended_.open()) return {Kind::System, "a descriptor cannot be had", EMFILE};
  life_.start(handler);
  Status s = control_.channel().start("gtrace-control");
  if (s.ok()) s = data_.channel().start("gtrace-data");
  if (s.ok()) s = reconnector_.start("gt-reconnector", [this] { keep(); });
  if (!s.ok()) life_.end(s);
  return s;
}

// --- The end

void TcpLink::say_bye() {
  control_.say_bye();
  data_.say_bye();
}

void TcpLink::peer_says_bye() {
  Channel& channel = control_.channel().is_this_thread() ? control_.channel() : data_.channel();
  {
    const MutexLock lock(channel.mutex());
    channel.send_ack();
    channel.write();
  }
  if (++peer_byes_ == 2) life_.end({Kind::Disconnected, "the peer closed the link"});
}

void TcpLink::stop() {
  control_.channel().end();
  data_.channel().end();
  ended_.ring();
}

// --- Control

Status TcpLink::send(std::span<const ByteView> parts, bool more) {
  return life_.in_child() ? link_closed() : control_.send(parts, more);
}
Status TcpLink::push() { return life_.in_child() ? link_closed() : control_.push(); }
void TcpLink::help(const std::function<bool()>& done) {
  if (life_.in_child() || in_handler() || !control_.push().ok()) return;
  control_.channel().help(done);
}

// --- Memory

Result<SegmentId> TcpLink::expose(void* base, size_t bytes) {
  if (is_closed()) return link_closed();
  return segments_.add(base, bytes);
}

Result<SegmentId> TcpLink::expose_shared(int, size_t, void* base, size_t bytes) { return expose(base, bytes); }

Result<SegmentId> TcpLink::allocate(size_t bytes, void** base) {
  if (is_closed()) return link_closed();
  void* const p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return system_error("memory for a link", errno);
  *base = p;
  return segments_.add(p, bytes, true);
}

Status TcpLink::withdraw(SegmentId segment) {
  if (life_.in_child()) return link_closed();
  const Segments::Memory memory = segments_.withdraw(segment);
  if (!memory.base) return {Kind::Invalid, "no such segment"};
  data_.forget(memory);
  Segments::release(memory);
  return {};
}

// --- Data

Ticket TcpLink::put(const void* from, Address to, size_t bytes) {
  return life_.in_child() ? 0 : data_.put(from, to, bytes, {});
}
Ticket TcpLink::put(const void* from, Address to, size_t bytes, Notice notice) {
  return life_.in_child() ? 0 : data_.put(from, to, bytes, notice);
}
Ticket TcpLink::get(void* to, Address from, size_t bytes) { return life_.in_child() ? 0 : data_.get(to, from, bytes); }
bool TcpLink::test(Ticket ticket) { return life_.in_child() || data_.test(ticket); }
std::optional<Pace> TcpLink::pace(Ticket put, uint64_t bytes) {
  return life_.in_child() ? std::nullopt : data_.pace(put, bytes);
}
Status TcpLink::wait(Ticket ticket) { return life_.in_child() ? link_closed() : data_.wait(ticket); }
Status TcpLink::flush() { return life_.in_child() ? link_closed() : data_.flush(); }

}  // namespace gt::wire
