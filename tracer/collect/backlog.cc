#include "tracer/collect/backlog.h"

#include <algorithm>
#include <utility>

#include "tracer/collect/counted_calls.h"

namespace gt::tracer {

Backlog::Amounts Backlog::amounts_for(const SpoolHeader& spool) {
  constexpr uint64_t Piece = 1 << 20, Least = 4 * Piece, Keep = 8 * Piece;
  const uint64_t begin = std::max(Least, spool.segment_count * spool.ring_bytes / 8);
  return {begin, std::min(begin, Keep), Piece};
}

void Backlog::spill_to(const std::string& path, uint64_t most_bytes, const Amounts& amounts) {
  spill_.put_at(path, most_bytes);
  amounts_ = amounts;
}

uint64_t Backlog::take(uint64_t most) {
  const uint64_t given = sheds() ? take_moved(most) : 0;
  return holds() || given >= most ? given : given + take_directly(most - given);
}

uint64_t Backlog::take_directly(uint64_t most) {
  const uint64_t given = spool_.read(visitor_.record, false, most);
  if (++takes_ % 64 == 0 || given == 0) recycle();
  return given;
}

uint64_t Backlog::take_moved(uint64_t most) {
  shed();
  if (most == All && moves_ && unwritten_.empty()) shed_piece();
  end_rings();
  const uint64_t until = most == All ? spill_.end() : All;  // what is moved from here on is for the next time
  uint64_t given = 0;
  while (holds() && (spill_.empty() || spill_.begin() < until) && given < most) {
    given += take_piece();
    if (holds() && spool_.waiting_bytes() > amounts_.keep) shed();
  }
  return given;
}

uint64_t Backlog::take_all() {
  spool_.give_restored(visitor_.record);
  uint64_t given = 0;
  while (holds()) given += take_piece();
  return given + spool_.read(visitor_.record, true);
}

// Down to about a piece: those that are smaller cost more.
void Backlog::shed() {
  bool room = moves_ && (unwritten_.empty() || write_out());
  while (room && spool_.waiting_bytes() > amounts_.piece) room = shed_piece();
}

// False: there was nothing, or no room for it.
bool Backlog::shed_piece() {
  spool_.hold(amounts_.piece);
  const uint64_t records = spool_.read([this](const RecordView& record) { writer_.add(record); });
  if (!writer_.empty()) return move_out(records);
  spool_.release();
  return false;
}

bool Backlog::move_out(uint64_t records) {
  spilled_waiting_ += writer_.raw_bytes();
  spilled_ += writer_.raw_bytes();
  writer_.take(spool_.places(), records, unwritten_);
  return write_out();
}

bool Backlog::write_out() {
  const Status written = spill_.append(unwritten_);
  if (!written.ok() && trouble_.ok()) trouble_ = written;
  if (written.ok()) settle();
  return written.ok();
}

// Nobody needs any more what the last piece has of the rings.
void Backlog::settle() {
  unwritten_.clear();
  spool_.release();
  for (const uint32_t ring : std::exchange(ending_, {})) {
    if (CallCounts* const counts = spool_.counts(ring)) clear(*counts);
    spool_.free_ring(ring);
  }
}

// Their records are in the file, and so is that they have ended.
void Backlog::end_rings() {
  if (!holds()) return recycle();
  if (!unwritten_.empty()) return;
  ending_ = spool_.ended_rings();
  if (ending_.empty()) return;
  for (const uint32_t ring : ending_) writer_.ring_ended(ring, spool_.ring(ring), spool_.counts(ring));
  move_out(0);
}

void Backlog::recycle() {
  spool_.recycle([this](uint32_t ring) {
    CallCounts* const counts = spool_.counts(ring);
    visitor_.ring_ended(ring, spool_.ring(ring), counts);
    if (counts) clear(*counts);
  });
}

// The oldest.
uint64_t Backlog::take_piece() {
  if (spill_.empty()) {
    const uint64_t given = give(unwritten_);
    settle();
    return given;
  }
  const Status read = spill_.read(spill_.begin(), piece_);
  if (!read.ok()) {
    ++lost_pieces_;
    spilled_waiting_ = 0;
    spill_.drop_all();
    return 0;
  }
  const uint64_t given = give(piece_);
  spill_.drop(piece_.size());
  return given;
}

uint64_t Backlog::give(ByteView piece) {
  if (!reader_.open(piece).ok()) {
    ++lost_pieces_;
    return 0;
  }
  lost_pieces_ += !reader_.give(visitor_);
  spilled_waiting_ -= std::min(spilled_waiting_, reader_.head().raw_bytes);
  return reader_.head().records;
}

void Backlog::recover() {
  lost_pieces_ += !spill_.reopen().ok();
  std::vector<FormsBefore> before;
  const auto of = [&](uint32_t ring) -> FormsBefore& {
    if (ring >= before.size()) before.resize(ring + 1);
    return before[ring];
  };
  PieceVisitor look;
  look.record = [&](const RecordView& record) {
    if (!of(record.ring).ended()) of(record.ring).see(record);
  };
  look.ring_ended = [&](uint32_t ring, const RingHeader& header, const CallCounts*) { of(ring).end(header); };
  for (uint64_t at = spill_.begin(); at < spill_.end(); at += piece_.size()) {
    if (!spill_.read(at, piece_).ok() || !reader_.open(piece_).ok()) break;  // said when it is to be taken
    reader_.give(look);
    spilled_waiting_ += reader_.head().raw_bytes;
  }
  if (!spill_.empty()) spool_.go_on_behind(reader_.places(), std::move(before));
}

}  // namespace gt::tracer
