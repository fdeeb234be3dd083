// Columns of times, and the clock of a device.
#include "traces/model/folded/timeline.h"

#include <algorithm>

namespace gt::model {
namespace {

int64_t minus(uint64_t a, uint64_t b) { return static_cast<int64_t>(a - b); }

void write(ByteWriter& out, const ColumnBuilder& builder) {
  const auto column = builder.finish();
  out.varint(column->chunks.size());
  for (const auto& chunk : column->chunks) out.bytes(*chunk);
}

// A chunk takes a byte at least, so what is allocated is bounded by the input.
std::shared_ptr<const Column> read(ByteReader& in, uint64_t values) {
  Column column;
  column.size = values;
  const uint64_t chunks = in.varint();
  if (chunks > in.remaining()) return nullptr;
  for (uint64_t i = 0; i < chunks; ++i) {
    const ByteView chunk = in.bytes();
    column.chunks.push_back(std::make_shared<const Bytes>(chunk.begin(), chunk.end()));
  }
  return in.ok() ? std::make_shared<const Column>(std::move(column)) : nullptr;
}

}  // namespace

void DeviceClock::add(uint64_t entry_ns, uint64_t start, uint64_t end, uint64_t seen_ns) {
  if ((entry_ns | start | end | seen_ns) >> 61) return;  // no clock counts that far; differences cannot overflow
  Bounds& b = windows_[start / Window];
  b.low = std::max(b.low, minus(entry_ns, start));
  b.high = std::min(b.high, minus(seen_ns, end));
}

// Forwards, then backwards: what a window knows bounds its neighbours.
void DeviceClock::settle() {
  const auto tighten = [](Bounds& b, const Bounds& from, uint64_t windows) {
    const int64_t slack = static_cast<int64_t>(std::min<uint64_t>(windows, 1 << 20)) * SlackPerWindow;
    b.low = std::max(b.low, from.low - slack);
    b.high = std::min(b.high, from.high + slack);
  };
  for (auto it = windows_.begin(), before = it; it != windows_.end(); before = it++) {
    if (it != before) tighten(it->second, before->second, it->first - before->first);
  }
  for (auto it = windows_.rbegin(), after = it; it != windows_.rend(); after = it++) {
    if (it != after) tighten(it->second, after->second, after->first - it->first);
  }
}

uint64_t DeviceClock::to_host(uint64_t device_ns) const {
  if (windows_.empty() || device_ns >> 61) return 0;
  auto it = windows_.upper_bound(device_ns / Window);
  if (it != windows_.begin()) --it;
  const int64_t offset = it->second.middle();
  const int64_t host = minus(device_ns + static_cast<uint64_t>(offset), 0);
  return host < 0 ? 0 : static_cast<uint64_t>(host);
}

int64_t DeviceClock::error_ns() const {
  int64_t worst = 0;
  for (const auto& [window, b] : windows_) worst = std::max(worst, std::abs(b.high - b.low) / 2 + 1);
  return worst;
}

void TimelineBuilder::add_event(uint64_t entry_ns, std::optional<uint64_t> duration_ns) {
  entry_.append(static_cast<int64_t>(entry_ns));
  duration_.append(duration_ns ? static_cast<int64_t>(*duration_ns + 1) : 0);
}

void TimelineBuilder::expect_command() {
  waiting_.push_back({events() - 1, false, nullptr, 0, 0});
  if (waiting_.size() > MaxWaiting) retire(MaxWaiting);
}

void TimelineBuilder::add_command(uint64_t event, const DeviceClock* clock, uint64_t start, uint64_t length) {
  const auto it = std::lower_bound(waiting_.begin(), waiting_.end(), event,
                                   [](const Waiting& w, uint64_t e) { return w.event < e; });
  if (it == waiting_.end() || it->event != event) return;
  *it = {event, true, clock, start, length};
  retire(waiting_.size());
}

// Writes down what is done at the front, and what is too much.
void TimelineBuilder::retire(size_t keep) {
  while (!waiting_.empty() && (waiting_.front().done || waiting_.size() > keep)) {
    const Waiting w = waiting_.front();
    waiting_.pop_front();
    if (!w.clock) continue;
    auto clock = std::find(clocks_.begin(), clocks_.end(), w.clock);
    if (clock == clocks_.end()) clock = clocks_.insert(clock, w.clock);
    event_.append(static_cast<int64_t>(w.event));
    start_.append(static_cast<int64_t>(w.start));
    length_.append(static_cast<int64_t>(w.length));
    clock_.append(clock - clocks_.begin());
  }
}

size_t TimelineBuilder::memory_bytes() const {
  return entry_.memory_bytes() + duration_.memory_bytes() + event_.memory_bytes() + start_.memory_bytes() +
         length_.memory_bytes() + clock_.memory_bytes() + waiting_.size() * sizeof(Waiting);
}

Bytes TimelineBuilder::encode() const {
  TimelineBuilder all(*this);
  all.retire(0);
  // Starts are kept on their devices' clocks; only now can they be brought to the host's.
  ColumnBuilder host_start;
  const auto starts = all.start_.finish(), clocks = all.clock_.finish();
  ColumnReader start(*starts), clock(*clocks);
  for (int64_t s = 0, c = 0; start.next(s) && clock.next(c);) {
    host_start.append(
        static_cast<int64_t>(all.clocks_[static_cast<size_t>(c)]->to_host(static_cast<uint64_t>(s))));
  }
  ByteWriter out;
  out.u8(TimelineVersion);
  out.varint(all.entry_.size());
  write(out, all.entry_);
  write(out, all.duration_);
  out.varint(all.event_.size());
  write(out, all.event_);
  write(out, host_start);
  write(out, all.length_);
  return out.take();
}

std::optional<TimelineReader> TimelineReader::open(ByteView bytes) {
  ByteReader in(bytes);
  if (in.u8() != TimelineVersion) return {};
  TimelineReader reader(in.varint(), 0);
  for (int part = 0; part < 5; ++part) {
    if (part == 2) reader.commands_ = in.varint();
    auto column = read(in, part < 2 ? reader.events_ : reader.commands_);
    if (!column) return {};
    reader.parts_.emplace_back(std::move(column));
  }
  if (!in.ok() || !in.at_end() || reader.commands_ > reader.events_) return {};
  reader.next_command();
  return reader;
}

bool TimelineReader::next(EventTime& time) {
  if (position_ == events_) return false;
  int64_t entry = 0, duration = 0;
  if (!parts_[0].reader.next(entry) || !parts_[1].reader.next(duration) || entry < 0 || duration < 0) {
    ok_ = false;
    position_ = events_;
    return false;
  }
  ++position_;
  time.entry_ns = static_cast<uint64_t>(entry);
  time.duration_ns.reset();
  if (duration > 0) time.duration_ns = static_cast<uint64_t>(duration - 1);
  return true;
}

std::optional<CommandTime> TimelineReader::command() {
  if (!ahead_ || position_ == 0 || ahead_->event != position_ - 1) return {};
  const auto found = ahead_;
  next_command();
  return found;
}

// Events of commands ascend; anything else is damage, and ends them.
void TimelineReader::next_command() {
  const bool first = !ahead_;
  const uint64_t before = first ? 0 : ahead_->event;
  ahead_.reset();
  if (commands_ == 0) return;
  --commands_;
  int64_t event = 0, start = 0, length = 0;
  const bool read = parts_[2].reader.next(event) && parts_[3].reader.next(start) && parts_[4].reader.next(length);
  const auto e = static_cast<uint64_t>(event);
  if (!read || start < 0 || length < 0 || e >= events_ || (!first && e <= before)) {
    ok_ = false;
    return;
  }
  ahead_ = CommandTime{e, static_cast<uint64_t>(start), static_cast<uint64_t>(length)};
}

}  // namespace gt::model
