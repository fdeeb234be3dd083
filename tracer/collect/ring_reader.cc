#include "tracer/collect/ring_reader.h"

#include <algorithm>
#include <cstring>

namespace gt::tracer {

namespace {

uint64_t word_at(const uint8_t* at) {
  uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

}  // namespace

RingHeader& SpoolMemory::ring(uint32_t i) const {
  return *reinterpret_cast<RingHeader*>(reinterpret_cast<uint8_t*>(header) + spool_ring_offset(header->ring_bytes, i));
}
SegmentHeader& SpoolMemory::segment(uint32_t number) const {
  return *reinterpret_cast<SegmentHeader*>(reinterpret_cast<uint8_t*>(header) +
                                           spool_segment_offset(header->ring_bytes, header->ring_count, number));
}
bool SpoolMemory::has_segment(uint32_t number) const {
  return number > 0 && number <= header->segment_count &&
         spool_segment_offset(header->ring_bytes, header->ring_count, number + 1) <= bytes;
}

void RingReader::take_over() {
  const RingHeader& header = spool_.ring(ring_);
  position_ = header.tail.load(std::memory_order_relaxed);
  repeated_ = header.tail_repeated.load(std::memory_order_relaxed);
  const uint32_t segment = header.tail_segment.load(std::memory_order_relaxed);
  damaged_ = segment != 0 && !spool_.has_segment(segment);
  if (!damaged_) segment_ = segment;
}

RingReader RingReader::look() const {
  RingReader copy = *this;
  copy.looks_ = true;
  copy.held_.clear();
  return copy;
}

// Segment by segment.
void RingReader::walk_to(uint64_t position) {
  for (;;) {
    const SegmentLink& next = link();
    const bool goes_on = next.segment.load(std::memory_order_acquire) != 0;
    const uint64_t start = next.start.load(std::memory_order_relaxed);
    if (!goes_on || start > position || start < position_) break;
    if (start != position_) repeated_ = 0;
    position_ = start;
    if (!follow_link()) break;
  }
  if (position_ != position) repeated_ = 0;
  position_ = position;
}

void RingReader::go_to(const Place& place) {
  if (damaged_ || place.position < position_) return;
  walk_to(place.position);
  repeated_ = place.repeated;
  ticks_ = place.ticks;
  publish();
}

RingReader RingReader::look_from(uint64_t position, uint64_t ticks) const {
  RingReader ahead = look();
  ahead.walk_to(position);
  ahead.ticks_ = std::max(ahead.ticks_, ticks);
  return ahead;
}

// A head outside the ring is damage; there is nothing to read then.
uint64_t RingReader::head() const {
  const uint64_t head = spool_.ring(ring_).head.load(std::memory_order_acquire);
  const uint64_t most = spool_.header->ring_bytes * (uint64_t{1} + spool_.header->segment_count);
  return head < position_ || head - position_ > most ? position_ : head;
}

uint64_t RingReader::see() {
  const bool grows = position_ == grows_at_;
  const uint8_t* const record = data() + (position_ & (spool_.header->ring_bytes - 1));
  const auto* const repeat = reinterpret_cast<const RepeatRecord*>(record + sizeof(RecordHeader));
  seen_calls_ = grows ? repeat->calls.load(std::memory_order_acquire) : 0;
  return head();
}

SegmentLink& RingReader::link() const {
  return segment_ == 0 ? spool_.ring(ring_).next : spool_.segment(segment_).next;
}
const uint8_t* RingReader::data() const {
  const void* header = &spool_.ring(ring_);
  if (segment_ != 0) header = &spool_.segment(segment_);
  return static_cast<const uint8_t*>(header) + PageBytes;
}

// At a position from which on the ring lies in another segment: goes there. False: damage.
bool RingReader::follow_link() {
  const SegmentLink& next = link();
  const uint32_t segment = next.segment.load(std::memory_order_acquire);
  if (segment == 0 || next.start.load(std::memory_order_relaxed) != position_) return true;
  const bool moves = segment_ == 0 || segment_start_ != position_;  // or links lead in a circle
  if (!moves || !spool_.has_segment(segment)) return false;
  const Crossing crossing{position_, segment_, segment};
  if (!looks_) {
    if (holds_) {
      held_.push_back(crossing);
    } else {
      cross(crossing);
    }
  }
  segment_ = segment;
  segment_start_ = position_;
  return true;
}

// In this order: whoever comes after us finds one of both, and what it leads to.
void RingReader::cross(const Crossing& crossing) {
  publish_at(crossing.position, 0);
  spool_.ring(ring_).tail_segment.store(crossing.to, std::memory_order_release);
  give_back(crossing.from);
}

void RingReader::give_back(uint32_t segment) {
  if (segment != 0) spool_.segment(segment).taken.store(0, std::memory_order_release);
}

void RingReader::publish_at(uint64_t position, uint64_t repeated) {
  RingHeader& ring = spool_.ring(ring_);
  ring.tail_repeated.store(repeated, std::memory_order_relaxed);
  ring.tail.store(position, std::memory_order_release);
}

void RingReader::publish() {
  if (!holds_) publish_at(position_, repeated_);
}

void RingReader::release() {
  holds_ = false;
  for (const Crossing& crossing : held_) cross(crossing);
  held_.clear();
  publish();
}

void RingReader::begin_again() {
  (void)follow_link();  // to a segment in which nothing was written any more
  give_back(segment_);
  segment_ = 0;
  RingHeader& ring = spool_.ring(ring_);
  publish();
  ring.tail_segment.store(0, std::memory_order_relaxed);
  ring.next.segment.store(0, std::memory_order_relaxed);
}

RingReader::Next RingReader::peek(uint64_t head, bool over) {
  const uint64_t size = spool_.header->ring_bytes;
  while (!damaged_ && position_ < head) {
    if (!follow_link()) {
      damaged_ = true;
      break;
    }
    const uint8_t* const at = data() + (position_ & (size - 1));
    const uint64_t word = word_at(at), room = std::min(size - (position_ & (size - 1)), head - position_);
    const BlockTag tag = tag_of(word);
    if (is_block_call(tag) || tag == BlockTag::Base) return {at, ticks_ + 1, true};
    if (tag == BlockTag::Ticks) {
      ticks_ = ticks_in(word) - 1;
      position_ += sizeof word;
      continue;
    }
    const auto& record = *reinterpret_cast<const RecordHeader*>(at);
    const bool pad = record.type == RecordType::Pad;
    damaged_ = tag != BlockTag::None || record.type == RecordType::Blocks || record.bytes > room ||
               record.bytes < (pad ? 8 : sizeof record);
    if (damaged_) break;
    if (!pad && record.type != RecordType::Repeat) return {at, record.ticks};
    if (!pad) {
      const std::optional<Next> next = next_of_repeat(record, head, over);
      if (next) return *next;
      if (damaged_) break;
      ticks_ = record.ticks + repeated_;
      repeated_ = 0;
    }
    position_ += record.bytes;
  }
  return {};
}

// nullopt: all its calls were given and there will be none any more, or it is damaged.
std::optional<RingReader::Next> RingReader::next_of_repeat(const RecordHeader& record, uint64_t head, bool over) {
  const uint32_t period = record.fn;
  damaged_ = period == 0 || record.bytes != sizeof record + sizeof(RepeatRecord) + 8 * period;
  if (damaged_) return std::nullopt;
  // In this order: what lies behind it was seen before the number is read.
  const bool last = over || position_ + record.bytes < head;  // nothing will be added
  const uint64_t calls = reinterpret_cast<const RepeatRecord*>(&record + 1)->calls.load(std::memory_order_acquire);
  if (!last && grows_at_ != position_) {
    grows_at_ = position_;
    seen_calls_ = 0;
  }
  const uint64_t seen = last ? calls : std::min(calls, seen_calls_);
  Next next{reinterpret_cast<const uint8_t*>(&record), record.ticks + repeated_ + 1};
  if (seen > repeated_) next.repeats = seen - repeated_;
  next.waits = next.repeats == 0 && calls > repeated_;
  if (next.repeats > 0 || next.waits) return next;
  return last ? std::nullopt : std::optional(Next());
}

uint64_t RingReader::give(const Next& next, uint64_t head, uint64_t end, const RecordVisitor& visit) {
  const RingHeader* const owner = &spool_.ring(ring_);
  if (next.repeats > 0) {
    const RecordHeader& record = next.record();
    const uint64_t calls = std::min(next.repeats, end - next.ticks);
    const uint8_t* const words = next.at + sizeof record + sizeof(RepeatRecord);
    visit({record, ByteView(words, size_t{8} * record.fn), ring_, owner, repeated_, calls});
    repeated_ += calls;
    return 1;
  }
  if (!next.blocks) {
    const RecordHeader& record = next.record();
    visit({record, ByteView(next.at + sizeof record, record.bytes - sizeof record), ring_, owner});
    position_ += record.bytes;
    ticks_ = record.ticks;
    return 1;
  }
  constexpr uint64_t MostBytes = 4096 * 8;
  const SegmentLink& then = link();
  if (then.segment.load(std::memory_order_acquire) != 0)
    head = std::min(head, then.start.load(std::memory_order_relaxed));
  const uint64_t size = spool_.header->ring_bytes;
  const uint64_t most = std::min({size - (position_ & (size - 1)), head - position_, MostBytes});
  uint64_t bytes = 0, calls = 0;
  for (; bytes < most; bytes += 8) {
    const BlockTag tag = tag_of(word_at(next.at + bytes));
    if (tag != BlockTag::Base && (!is_block_call(tag) || ticks_ + calls + 1 >= end)) break;
    calls += tag != BlockTag::Base;
  }
  const RecordHeader header{static_cast<uint32_t>(bytes), RecordType::Blocks, 0, ticks_};
  visit({header, ByteView(next.at, bytes), ring_, owner});
  position_ += bytes;
  ticks_ += calls;
  return calls;
}

}  // namespace gt::tracer
