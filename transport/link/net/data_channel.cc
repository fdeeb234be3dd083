#include "transport/link/net/data_channel.h"

namespace gt::wire {
namespace {

constexpr Ticket GetBit = Ticket{1} << 63;
// Of chunks of 256 KiB the socket takes several in one call: a call for each wakes the other end as often.
constexpr size_t Ahead = size_t{1} << 20;

template <class Head>
ByteView view_of(const Head& head) {
  return {reinterpret_cast<const uint8_t*>(&head), sizeof head};
}
template <class Head>
Head head_of(ByteView bytes) {
  Head head;
  std::memcpy(&head, bytes.data(), sizeof head);
  return head;
}

Status wrong(const char* what) { return {Kind::Corrupt, std::string("the peer ") + what}; }

}  // namespace

// --- Sending

Ticket DataChannel::put(const void* from, Address to, size_t bytes, std::optional<Notice> notice) {
  if (bytes == 0 && !notice) return 0;
  Operation operation;
  operation.type = FrameType::Put;
  operation.from = static_cast<const char*>(from);
  operation.bytes = bytes;
  operation.put = {to.segment, notice ? 1u : 0u, to.offset, notice.value_or(0), bytes, 0};
  const MutexLock lock(channel_.mutex());
  if (channel_.ended() || bye_) return 0;
  operation.id = ++puts_made_;
  operations_.push_back(operation);
  channel_.write();
  return operation.id;
}

Ticket DataChannel::get(void* to, Address from, size_t bytes) {
  if (bytes == 0) return 0;
  Operation operation;
  operation.type = FrameType::Get;
  const MutexLock lock(channel_.mutex());
  if (channel_.ended() || bye_) return 0;
  operation.get = {from.segment, 0, from.offset, bytes, ++gets_made_};
  wanted_.push_back({static_cast<char*>(to), bytes, 0});
  operations_.push_back(operation);
  channel_.write();
  return gets_made_ | GetBit;
}

// There is something to write, and the window lets it go; little is appended ahead of what the socket takes.
bool DataChannel::has_room(Channel& channel) {
  if (operations_.empty()) return false;
  const OutStream& out = channel.out();
  const uint64_t ahead = out.end() - out.written(), under_way = marks_.empty() ? 0 : out.end() - out.acknowledged();
  return ahead < Ahead && (under_way == 0 || under_way + window_.chunk() <= window_.bytes());
}

void DataChannel::fill(Channel& channel, uint64_t now_ns) {
  while (has_room(channel)) cut(channel, now_ns);
}

// Appends the next chunk of the first operation.
void DataChannel::cut(Channel& channel, uint64_t now_ns) {
  Operation& operation = operations_.front();
  const size_t bytes = std::min(operation.bytes - operation.done, window_.chunk());
  cut_chunk(channel, operation, bytes);
  operation.done += bytes;
  const bool last = operation.done == operation.bytes;
  const uint64_t put = operation.type == FrameType::Put ? operation.id : 0;
  if (put || operation.type == FrameType::Got)
    marks_.push_back({channel.out().end(), now_ns, bytes, last ? put : 0, operation.bytes < PutPace::Least ? 0 : put});
  if (last) operations_.pop_front();
}

void DataChannel::cut_chunk(Channel& channel, Operation& operation, size_t bytes) {
  if (operation.type == FrameType::Bye) {
    channel.append(FrameType::Bye);
    bye_end_ = channel.out().end();
    return;
  }
  if (operation.type == FrameType::Get) return channel.append(FrameType::Get, view_of(operation.get));
  if (operation.type == FrameType::Put) {
    PutHead head = operation.put;
    head.done = operation.done;
    if (operation.done + bytes < operation.bytes) head.has_notice = 0;
    channel.append(FrameType::Put, view_of(head), bytes);
  } else {
    channel.append(FrameType::Got, view_of(GotHead{operation.id, operation.done}), bytes);
  }
  const char* const from = operation.from + operation.done;
  constexpr size_t Small = 512;  // a copy is cheaper than one more part to write
  if (bytes <= Small)
    channel.out().copy({reinterpret_cast<const uint8_t*>(from), bytes});
  else
    channel.out().refer(from, bytes);
}

void DataChannel::acknowledged(Channel& channel, uint64_t now_ns, uint64_t hold_ns) {
  const uint64_t position = channel.out().acknowledged();
  size_t bytes = 0;
  Mark last;
  while (!marks_.empty() && marks_.front().end <= position) {
    last = marks_.front();
    bytes += last.bytes;
    if (last.of) pace_.acknowledged(last.of, last.bytes, now_ns);
    if (last.put) puts_over_.store(last.put, std::memory_order_release);
    marks_.pop_front();
  }
  if (hold_ns == NoSample || bytes == 0) return;
  const uint64_t took = now_ns - last.sent_ns;
  if (took <= hold_ns) return;
  // What threads take to be woken is no queue in the network: the kernel's own measure does not have it. (It may have
  // the receiver's delayed acknowledgements, which ours has not, or end at a relay: so only what it adds counts.)
  uint64_t delay = took - hold_ns;
  if (const uint64_t network = channel.network_delay_ns()) {
    least_network_ns_ = std::min(least_network_ns_, network);
    delay = std::min(delay, window_.base_ns() + network - least_network_ns_);
  }
  window_.acknowledged(now_ns, bytes, delay);
}

void DataChannel::forget(const Segments::Memory& memory) {
  bool asked = false;
  {
    const MutexLock lock(channel_.mutex());
    channel_.out().keep(memory.base, memory.bytes);
    for (const Operation& o : operations_) {
      asked = asked || (o.type == FrameType::Got && o.from >= memory.base && o.from < memory.base + memory.bytes);
    }
    if (asked) operations_.clear();
  }
  if (asked) life_.end(wrong("reads memory that is being withdrawn"));
}

void DataChannel::say_bye() {
  const MutexLock lock(channel_.mutex());
  if (bye_ || channel_.ended()) return;
  bye_ = true;
  operations_.emplace_back().type = FrameType::Bye;
  channel_.write();
}

bool DataChannel::all_arrived() {
  const MutexLock lock(channel_.mutex());
  return bye_end_ > 0 && channel_.out().acknowledged() >= bye_end_;
}

DelayWindow DataChannel::window() {
  const MutexLock lock(channel_.mutex());
  return window_;
}

// --- Waiting

bool DataChannel::is_over(Ticket ticket) const {
  return ticket & GetBit ? gets_over_.load(std::memory_order_acquire) >= (ticket & ~GetBit)
                         : puts_over_.load(std::memory_order_acquire) >= ticket;
}

bool DataChannel::test(Ticket ticket) {
  if (is_over(ticket)) return true;
  const MutexLock lock(channel_.mutex());
  return channel_.quiet();
}

Status DataChannel::wait(Ticket ticket) {
  if (may_spin()) {
    const uint64_t until = monotonic_ns() + Spin_ns;
    while (!is_over(ticket) && monotonic_ns() < until) {
    }
  }
  UniqueLock lock(channel_.mutex());
  while (!channel_.quiet() && (!is_over(ticket) || channel_.ended())) channel_.changed().wait(lock);
  return channel_.ended() ? life_.why_closed() : Status();
}

std::optional<Pace> DataChannel::pace(Ticket put, uint64_t bytes) {
  UniqueLock lock(channel_.mutex());
  while (!channel_.quiet() && !is_over(put) && pace_.arrived(put) < bytes) channel_.changed().wait(lock);
  return pace_.pace(put);
}

Status DataChannel::flush() {
  uint64_t puts, gets;
  {
    const MutexLock lock(channel_.mutex());
    puts = puts_made_;
    gets = gets_made_;
  }
  GT_TRY(wait(puts));
  return wait(gets | GetBit);
}

// --- Receiving

Status DataChannel::take_header(const FrameHeader& header) {
  return header.type == FrameType::Ack ? Status() : channel_.acknowledge(header.received, NoSample);
}

Status DataChannel::take_frame(const FrameHeader& header, ByteView body) {
  if (header.type == FrameType::Ack) return channel_.acknowledge(header.received, head_of<AckHead>(body).hold_ns);
  if (header.type == FrameType::Get) return take_get(body);
  if (header.type == FrameType::Bye && !peer_bye_) {
    peer_bye_ = true;
    owner_.peer_says_bye();
  }
  return {};
}

Status DataChannel::take_get(ByteView body) {
  const auto head = head_of<GetHead>(body);
  Operation operation;
  operation.type = FrameType::Got;
  operation.bytes = head.bytes;
  operation.id = head.id;
  const auto add = [&](char* from) {
    operation.from = from;
    const MutexLock lock(channel_.mutex());
    if (operations_.size() >= MostOperations) operation.bytes = 0;
    if (operation.bytes > 0) operations_.push_back(operation);
    channel_.write();
  };
  // Inside use(), so that withdraw() either sees the operation or makes this fail.
  if (!owner_.segments().use({head.segment, head.offset}, head.bytes, add))
    return wrong("reads memory that is not exposed");
  return operation.bytes > 0 ? Status() : wrong("asks for nothing, or for too much at once");
}

Status DataChannel::begin_payload(const FrameHeader& header, ByteView head) {
  is_put_ = header.type == FrameType::Put;
  chunk_bytes_ = header.length - head.size();
  return is_put_ ? begin_put(header, head) : begin_got(header, head);
}

Status DataChannel::begin_put(const FrameHeader&, ByteView head) {
  put_ = head_of<PutHead>(head);
  const bool inside = put_.done <= put_.total && chunk_bytes_ <= put_.total - put_.done;
  // The whole of it, so that one which does not fit leaves nothing behind.
  if (inside && owner_.segments().holds({put_.segment, put_.offset}, put_.total)) return {};
  return wrong("writes to memory that is not exposed");
}

Status DataChannel::begin_got(const FrameHeader&, ByteView head) {
  const auto got = head_of<GotHead>(head);
  const MutexLock lock(channel_.mutex());
  if (wanted_.empty() || got.id != gets_over_ + 1 || got.offset != wanted_.front().done)
    return wrong("sends what was not asked for");
  Wanted& wanted = wanted_.front();
  if (chunk_bytes_ == 0 || chunk_bytes_ > wanted.bytes - wanted.done) return wrong("sends more than was asked for");
  got_ = wanted.to + wanted.done;
  return {};
}

bool DataChannel::at_target(size_t done, size_t bytes, const std::function<void(char*)>& use) {
  if (is_put_) return owner_.segments().use({put_.segment, put_.offset + put_.done + done}, bytes, use);
  use(got_ + done);
  return true;
}

Status DataChannel::end_payload() {
  channel_.owe_ack();
  if (is_put_) {
    if (put_.has_notice && !peer_bye_) life_.handler().on_put(put_.notice, put_.total);
    return {};
  }
  const MutexLock lock(channel_.mutex());
  Wanted& wanted = wanted_.front();
  wanted.done += chunk_bytes_;
  if (wanted.done < wanted.bytes) return {};
  wanted_.pop_front();
  gets_over_.store(gets_over_ + 1, std::memory_order_release);
  channel_.changed().notify_all();
  return {};
}

}  // namespace gt::wire
