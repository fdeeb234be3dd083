#include "transport/link/node/shm_data.h"

#include <algorithm>

#include "traces/base/clock.h"
#include "transport/link/base/spin_policy.h"

namespace gt::wire {
namespace {

constexpr Ticket GetBit = Ticket{1} << 63;
constexpr size_t Chunk = size_t{128} << 10;      // bytes that one record carries at most
constexpr size_t FetchFrom = size_t{16} << 10;   // smaller ones are carried: one copy more, one wake-up less
constexpr size_t Piece = size_t{1} << 20;        // copied while a segment is held
constexpr int Turns = 16;

Status wrong(const char* what) { return {Kind::Corrupt, std::string("the peer ") + what}; }

}  // namespace

// --- The caller's side

Ticket ShmData::put(const void* from, Address to, size_t bytes, std::optional<Notice> notice) {
  char* const there = owner_.peer().view(to, bytes);
  if (bytes == 0 && !notice) return 0;
  Operation o;
  o.from = static_cast<const char*>(from);
  o.to = there;
  o.carrier.segment = to.segment;
  o.carrier.has_notice = notice.has_value();
  o.carrier.offset = to.offset;
  o.carrier.bytes = o.carrier.total = bytes;
  o.carrier.notice = notice.value_or(0);
  const auto shared = there || bytes < FetchFrom ? std::nullopt : owner_.shared_part(from, bytes);
  o.way = there ? Way::Direct : shared ? Way::Single : Way::Carry;
  o.record = Fetch;
  if (shared) o.carrier.from_segment = shared->segment, o.carrier.from_offset = shared->offset;
  const MutexLock lock(mutex_);
  if (quiet_) return 0;
  o.put = ++puts_made_;
  puts_open_.fetch_add(1, std::memory_order_release);
  operations_.push_back(o);
  (void)pump();  // an error is found again by the channel's thread
  return puts_over_ >= o.put ? 0 : o.put;
}

Ticket ShmData::get(void* to, Address from, size_t bytes) {
  if (bytes == 0) return 0;
  Operation o;
  o.way = Way::Single;
  o.record = Get;
  o.carrier.segment = from.segment;
  o.carrier.offset = from.offset;
  o.carrier.bytes = bytes;
  const auto shared = bytes < FetchFrom ? std::nullopt : owner_.shared_part(to, bytes);
  if (shared) o.carrier.from_segment = shared->segment, o.carrier.from_offset = shared->offset;
  const MutexLock lock(mutex_);
  if (quiet_) return 0;
  o.carrier.id = ++gets_made_;
  wanted_.push_back({static_cast<char*>(to), bytes, 0, shared.has_value()});
  operations_.push_back(o);
  (void)pump();
  return gets_made_ | GetBit;
}

bool ShmData::is_over(Ticket ticket) const {
  return ticket & GetBit ? gets_over_.load(std::memory_order_acquire) >= (ticket & ~GetBit)
                         : puts_over_.load(std::memory_order_acquire) >= ticket;
}

bool ShmData::test(Ticket ticket) {
  if (is_over(ticket)) return true;
  const MutexLock lock(mutex_);
  reap();
  (void)pump();
  return quiet_ || is_over(ticket);
}

Status ShmData::wait(Ticket ticket) {
  if (may_spin()) {
    const uint64_t until = monotonic_ns() + Spin_ns;
    while (!test(ticket) && monotonic_ns() < until) {
    }
  }
  UniqueLock lock(mutex_);
  while (!quiet_) {
    reap();
    (void)pump();
    if (is_over(ticket) && !life_.is_ended()) break;
    out_.ask();
    reap();
    if (is_over(ticket) && !life_.is_ended()) break;
    changed_.wait_for(lock, std::chrono::milliseconds(100));
  }
  return life_.is_ended() ? life_.why_closed() : Status();
}

Status ShmData::flush() {
  uint64_t puts, gets;
  {
    const MutexLock lock(mutex_);
    puts = puts_made_;
    gets = gets_made_;
  }
  GT_TRY(wait(puts));
  return wait(gets | GetBit);
}

bool ShmData::all_taken() {
  const MutexLock lock(mutex_);
  const auto consumed = out_.consumed();
  return !consumed || (operations_.empty() && *consumed == out_.tail());
}

bool ShmData::awaits() {
  if (!all_taken()) return true;
  const MutexLock lock(mutex_);
  return !wanted_.empty();
}

void ShmData::set_quiet() {
  const MutexLock lock(mutex_);
  quiet_ = true;
  operations_.clear();
  changed_.notify_all();
}

// --- Sending

// Which puts are over.
void ShmData::reap() {
  const auto consumed = out_.consumed();
  if (!consumed) return;
  while (!marks_.empty() && marks_.front().end <= *consumed) {
    puts_over_.store(marks_.front().put, std::memory_order_release);
    puts_open_.fetch_sub(1, std::memory_order_release);
    marks_.pop_front();
  }
}

// Carries out what there is room for; asks for the bell when there is none.
Status ShmData::pump() {
  bool asked = false;
  while (!operations_.empty()) {
    const auto started = start_next(operations_.front());
    if (!started) return started.status();
    if (*started) {
      operations_.pop_front();
      continue;
    }
    if (asked) break;
    out_.show();
    out_.ask();
    asked = true;
  }
  if (!wrote_) return {};
  wrote_ = false;
  out_.show();
  ring_bell(peers_);
  return {};
}

// False: there is no room for (all of) it yet.
Result<bool> ShmData::start_next(Operation& o) {
  if (o.way == Way::Direct) return start_direct(o);
  if (o.way == Way::Carry) return carry(o);
  if (o.way == Way::Answer) return answer(o);
  const auto written = write_record(o.record, o.carrier);
  if (written && *written && o.put) marks_.push_back({out_.tail(), o.put});
  return written;
}

// When the puts before it are over. So is this one then: its bytes are there, whenever the peer hears of them.
Result<bool> ShmData::start_direct(Operation& o) {
  reap();
  if (!marks_.empty()) return false;
  if (o.done == 0 && o.carrier.bytes > 0) {
    char* const there = owner_.peer().view({o.carrier.segment, o.carrier.offset}, o.carrier.bytes);
    if (!there) {  // withdrawn since
      o.way = Way::Carry;
      return carry(o);
    }
    owner_.copy(there, o.from, o.carrier.bytes);
    o.done = o.carrier.bytes;
  }
  if (o.carrier.has_notice) {
    Carrier told = o.carrier;
    told.bytes = 0;
    told.id = told.total;
    const auto written = write_record(Put, told);
    if (!written || !*written) return written;
  }
  puts_over_.store(o.put, std::memory_order_release);
  puts_open_.fetch_sub(1, std::memory_order_release);
  return true;
}

Result<bool> ShmData::carry(Operation& o) {
  do {
    Carrier c = o.carrier;
    c.id = o.done;
    c.bytes = std::min(Chunk, o.carrier.bytes - o.done);
    const bool last = o.done + c.bytes == o.carrier.bytes;
    if (!last) c.has_notice = 0;
    const auto written = write_record(Put, c, {reinterpret_cast<const uint8_t*>(o.from) + o.done, c.bytes});
    if (!written || !*written) return written;
    o.done += c.bytes;
    // Early, so that the peer copies out what is there while the next part is copied in.
    out_.show();
    if (!last) ring_bell(peers_);
  } while (o.done < o.carrier.bytes);
  marks_.push_back({out_.tail(), o.put});
  return true;
}

Result<bool> ShmData::answer(Operation& o) {
  while (o.done < o.carrier.bytes) {
    Carrier c;
    c.id = o.carrier.id;
    c.offset = o.done;
    c.bytes = std::min(Chunk, o.carrier.bytes - o.done);
    Result<bool> written = true;
    const auto write = [&](char* from) GT_REQUIRES(mutex_) {
      written = write_record(Got, c, {reinterpret_cast<uint8_t*>(from), c.bytes});
    };
    if (!owner_.segments().use({o.carrier.segment, o.carrier.offset + o.done}, c.bytes, write))
      return wrong("reads memory that is not exposed");
    if (!written || !*written) return written;
    o.done += c.bytes;
    out_.show();
    if (o.done < o.carrier.bytes) ring_bell(peers_);
  }
  return true;
}

Result<bool> ShmData::write_record(Record kind, const Carrier& carrier, ByteView bytes) {
  const auto room = out_.has_room(sizeof carrier + bytes.size());
  if (!room || !*room) return room;
  const ByteView parts[] = {{reinterpret_cast<const uint8_t*>(&carrier), sizeof carrier}, bytes};
  out_.put(kind, parts);
  wrote_ = true;
  return true;
}

// --- The channel's thread

Result<bool> ShmData::work() {
  RecordHeader record;
  bool more = true;
  for (int turn = 0; more && turn < Turns; ++turn) {
    const auto there = in_.next(record);
    if (!there) return there.status();
    more = *there;
    if (more) GT_TRY(take(record));
  }
  const MutexLock lock(mutex_);
  reap();
  GT_TRY(pump());
  changed_.notify_all();
  return more;
}

Status ShmData::take(const RecordHeader& record) {
  Carrier c;
  if (record.bytes < sizeof c) return wrong("sent a damaged record");
  in_.copy_out(&c, sizeof c);
  const size_t bytes = record.bytes - sizeof c;
  Status s = wrong("sent a record of an unknown kind");
  if (record.kind == Put) s = take_put(c, bytes);
  if (record.kind == Fetch) s = take_fetch(c);
  if (record.kind == Get) s = take_get(c);
  if (record.kind == Got) s = take_got(c, bytes);
  GT_TRY(s);
  if (in_.done(record)) ring_bell(peers_);
  const bool is_put = record.kind == Put || record.kind == Fetch;
  if (is_put && c.has_notice) life_.handler().on_put(c.notice, c.total);
  return {};
}

Status ShmData::take_put(const Carrier& c, size_t bytes) {
  if (c.bytes != bytes) return wrong("sent a record of another length");
  if (bytes == 0) return {};
  const auto copy = [&](char* to) { in_.copy_out(to, bytes); };
  const bool inside = c.id <= c.total && bytes <= c.total - c.id;
  // The whole of it, so that one which does not fit leaves nothing behind.
  if (inside && owner_.segments().holds({c.segment, c.offset}, c.total) &&
      owner_.segments().use({c.segment, c.offset + c.id}, bytes, copy))
    return {};
  return wrong("writes to memory that is not exposed");
}

Status ShmData::take_fetch(const Carrier& c) {
  const char* const from = owner_.peer().view({c.from_segment, c.from_offset}, c.bytes);
  if (!from) return wrong("sends from memory that it does not share");
  if (!owner_.segments().holds({c.segment, c.offset}, c.bytes)) return wrong("writes to memory that is not exposed");
  for (uint64_t done = 0; done < c.bytes; done += Piece) {
    const size_t n = std::min<uint64_t>(Piece, c.bytes - done);
    const auto copy = [&](char* to) { owner_.copy(to, from + done, n); };
    if (!owner_.segments().use({c.segment, c.offset + done}, n, copy))
      return wrong("writes to memory that is not exposed");
  }
  return {};
}

Status ShmData::take_get(const Carrier& c) {
  if (c.bytes == 0 || !owner_.segments().holds({c.segment, c.offset}, c.bytes))
    return wrong("reads memory that is not exposed");
  if (c.from_segment != 0) GT_TRY(store(c, {c.from_segment, c.from_offset}));
  Operation o;
  o.way = Way::Answer;
  o.carrier = c;
  if (c.from_segment != 0) {  // what remains is to say that it is done
    o.way = Way::Single;
    o.record = Got;
    o.carrier = {};
    o.carrier.id = c.id;
  }
  const MutexLock lock(mutex_);
  if (operations_.size() >= MostOperations) return wrong("asks for too much at once");
  operations_.push_back(o);
  return {};
}

// What a get asks for, into memory that its maker shares.
Status ShmData::store(const Carrier& c, Address where) {
  char* const to = owner_.peer().view(where, c.bytes);
  if (!to) return wrong("wants data in memory that it does not share");
  for (uint64_t done = 0; done < c.bytes; done += Piece) {
    const size_t n = std::min<uint64_t>(Piece, c.bytes - done);
    const auto copy = [&](char* from) { owner_.copy(to + done, from, n); };
    if (!owner_.segments().use({c.segment, c.offset + done}, n, copy)) return wrong("reads memory that is not exposed");
  }
  return {};
}

Status ShmData::take_got(const Carrier& c, size_t bytes) {
  char* to = nullptr;
  {
    const MutexLock lock(mutex_);
    if (wanted_.empty() || c.id != gets_over_ + 1) return wrong("sends what was not asked for");
    Wanted& w = wanted_.front();
    const bool fits = w.direct ? bytes == 0 : c.offset == w.done && bytes > 0 && bytes <= w.bytes - w.done;
    if (c.bytes != bytes || !fits) return wrong("sends other data than was asked for");
    to = w.to + w.done;
    w.done += w.direct ? w.bytes : bytes;
  }
  in_.copy_out(to, bytes);
  const MutexLock lock(mutex_);
  if (wanted_.front().done < wanted_.front().bytes) return {};
  wanted_.pop_front();
  gets_over_.store(gets_over_ + 1, std::memory_order_release);
  changed_.notify_all();
  return {};
}

}  // namespace gt::wire
