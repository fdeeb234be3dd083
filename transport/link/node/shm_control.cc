#include "transport/link/node/shm_control.h"

#include <algorithm>

#include "traces/base/clock.h"

namespace gt::wire {
namespace {

enum Record : uint32_t { Part = 1, Last = 2 };
constexpr int Turns = 64;  // records before others have their turn

}  // namespace

Status ShmControl::send(std::span<const ByteView> parts) {
  size_t bytes = 0;
  for (const ByteView part : parts) bytes += part.size();
  if (bytes > LargestFrame) return {Kind::Invalid, "a frame is larger than a link takes"};
  const bool may_wait = !life_.in_handler();
  UniqueLock lock(mutex_);
  if (may_wait && !waiting_.empty()) GT_TRY(wait_for_room(lock));
  if (!life_.is_open()) return life_.why_closed();
  if (waiting_.empty() && bytes <= Fragment) {
    const auto room = out_.has_room(bytes);
    if (!room) return room.status();
    if (*room) {
      out_.put(Last, parts);
      out_.show();
      ring_bell(peers_);
      return {};
    }
  }
  Bytes frame;
  for (const ByteView part : parts) frame.insert(frame.end(), part.begin(), part.end());
  waiting_bytes_ += bytes;
  waiting_.push_back(std::move(frame));
  if (waiting_bytes_ <= MostWaiting) return pump();
  lock.unlock();
  life_.end({Kind::Disconnected, "the peer does not read what it is sent"});
  return life_.why_closed();
}

// Until nothing waits before what the caller sends. The helper gives its turn back meanwhile: it neither receives here
// nor finds the room, and while the bell is for it nobody else would, at either end if both wait.
Status ShmControl::wait_for_room(UniqueLock& lock) {
  const bool helps = turn_.is_helper();
  if (helps) {
    mutex_.unlock();
    give_turn_back(turn_.take());
    mutex_.lock();
  }
  while (!waiting_.empty() && life_.is_open()) {
    GT_TRY(pump());
    if (!waiting_.empty()) room_.wait_for(lock, std::chrono::milliseconds(100));  // a bell may be spoiled
  }
  if (helps) prepare_help();
  return {};
}

// Sends what waits, as far as there is room; asks for the bell when there is none.
Status ShmControl::pump() {
  bool sent = false, asked = false;
  while (!waiting_.empty()) {
    const ByteView rest = ByteView(waiting_.front()).subspan(sent_of_first_);
    const ByteView part[] = {rest.first(std::min(rest.size(), Fragment))};
    const auto room = out_.has_room(part[0].size());
    if (!room) return room.status();
    if (!*room && asked) break;
    if (!*room) {
      out_.show();
      out_.ask();
      asked = true;
      continue;
    }
    const bool last = part[0].size() == rest.size();
    out_.put(last ? Last : Part, part);
    sent = true;
    sent_of_first_ += part[0].size();
    if (!last) continue;
    waiting_bytes_ -= waiting_.front().size();
    waiting_.pop_front();
    sent_of_first_ = 0;
  }
  out_.show();
  if (sent) ring_bell(peers_);
  if (waiting_.empty()) room_.notify_all();
  return {};
}

Result<bool> ShmControl::work() {
  RecordHeader record;
  for (int turn = 0; turn < Turns; ++turn) {
    const auto there = in_.next(record);
    if (!there) return there.status();
    if (!*there) {
      const MutexLock lock(mutex_);
      GT_TRY(pump());
      return false;
    }
    const size_t before = frame_.size();
    if ((record.kind != Part && record.kind != Last) || record.bytes > LargestFrame - before)
      return Status(Kind::Corrupt, "the peer sent a damaged frame");
    frame_.resize(before + record.bytes);
    in_.copy_out(frame_.data() + before, record.bytes);
    if (in_.done(record)) ring_bell(peers_);
    if (record.kind == Part) continue;
    life_.handler().on_frame(frame_);
    frame_.clear();
  }
  const MutexLock lock(mutex_);
  GT_TRY(pump());
  return true;
}

// --- In place of the channel's thread

void ShmControl::prepare_help() {
  const ShmTurn::Lock turn = turn_.try_to_take();
  if (turn) turn_.begin_help();
}

void ShmControl::help(const std::function<bool()>& done) {
  const bool spins = !done() && turn_.helper_spins.allows();
  const uint64_t until = monotonic_ns() + Spin_ns;
  ShmTurn::Lock turn = turn_.try_to_take();
  while (!turn) {  // somebody receives, perhaps what this one waits for
    const bool over = done();
    if (over || !spins || monotonic_ns() > until) {
      if (spins) turn_.helper_spins.spun(over);
      if (!turn_.is_helper()) return;
      turn = turn_.take();
      break;
    }
    pause();
    turn = turn_.try_to_take();
  }
  if (!turn_.begin_help()) return;
  receive_until(done, turn, spins);
  give_turn_back(std::move(turn));
}

// What has come, and the room that there is, since the helper last looked are for the channel's thread to find.
void ShmControl::give_turn_back(ShmTurn::Lock turn) {
  turn_.end_help();
  bool left = !in_.seems_empty();
  {
    const MutexLock lock(mutex_);
    left = left || !waiting_.empty();
  }
  turn.unlock();
  if (left) ring_bell(turn_.bell());
}

// Looks for a while, then sleeps until the bell rings.
void ShmControl::receive_until(const std::function<bool()>& done, ShmTurn::Lock& turn, bool spins) {
  constexpr uint64_t Sleep_ns = 100'000'000;
  bool looks = spins;
  const uint64_t until = monotonic_ns() + Spin_ns;
  while (!done() && life_.is_open()) {
    const uint32_t seen = turn_.rung();
    turn_.set_delivering(true);
    const auto busy = work();
    turn_.set_delivering(false);
    if (!busy) return life_.end(busy.status());
    if (*busy || done()) continue;
    while (looks && in_.seems_empty()) {
      looks = monotonic_ns() < until;
      pause();
    }
    if (!looks) turn_.sleep(turn, ShmTurn::Who::Helper, seen, Sleep_ns);
  }
  if (spins) turn_.helper_spins.spun(looks);
}

bool ShmControl::all_taken() {
  const MutexLock lock(mutex_);
  const auto consumed = out_.consumed();
  return !consumed || (waiting_.empty() && *consumed == out_.tail());
}

bool ShmControl::awaits() { return !all_taken(); }

void ShmControl::wake_all() {
  const MutexLock lock(mutex_);
  room_.notify_all();
}

}  // namespace gt::wire
