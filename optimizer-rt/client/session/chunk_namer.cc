#include "optimizer-rt/client/session/chunk_namer.h"

#include <algorithm>
#include <chrono>

#include "optimizer-rt/client/base/object.h"
#include "traces/base/clock.h"

namespace gt::virt {

void ChunkNamer::open(const wire::ChunkOffer& offer, const ChunkNaming& naming, Ask ask) {
  const bool offered = offer.piece_bytes == chunks::PieceBytes && (offer.forms & bit_of(wire::PieceForm::Named)) != 0;
  naming_ = naming;
  if (!offered) naming_.mode = DedupMode::Never;
  account_.set_mode(naming_.mode);
  ask_ = std::move(ask);
}

void ChunkNamer::kept(const wire::Kept& m) {
  const MutexLock lock(mutex_);
  room_ = m.room;
  known_.insert(m.names.begin(), m.names.end());
  answered_ = true;
  changed_.notify_all();
}

void ChunkNamer::close() {
  const MutexLock lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

// OpenSSL is loaded here, on the thread that sends.
void ChunkNamer::ask() {
  asked_ = true;
  if (!chunks::PieceNamer::available().ok()) return account_.set_mode(DedupMode::Never);
  namer_.emplace(naming_.key);
  wire::Recall recall;
  if (naming_.tells_key) recall.key = naming_.key;
  try {
    ask_(recall);
  } catch (const Failure&) {  // the link is lost
    account_.set_mode(DedupMode::Never);
  }
}

// Always: what it has is waited for, so that it does not depend on time what is named.
bool ChunkNamer::has_answer() {
  if (!asked_) ask();
  if (naming_.mode == DedupMode::Always && !answered_) {
    constexpr std::chrono::seconds Longest{5};
    UniqueLock lock(mutex_);
    changed_.wait_for(lock, Longest, [this]() GT_REQUIRES(mutex_) { return closed_ || answered_; });
  }
  if (!answered_) return false;
  const MutexLock lock(mutex_);
  account_.set_room(room_);
  return room_ != 0 && namer_;
}

std::optional<chunks::Name> ChunkNamer::known_name(ByteView piece) {
  const uint64_t before = monotonic_ns();
  const chunks::Name name = namer_->name(piece);
  const uint64_t took = monotonic_ns() - before;
  bool known = false;
  {
    const MutexLock lock(mutex_);
    known = known_.contains(chunks::shortened(name));
  }
  account_.named(piece.size(), took, known);
  return known ? std::optional(name) : std::nullopt;
}

bool ChunkNamer::asks(uint64_t bytes) {
  if (!asked_ && bytes >= LeastBytes && account_.is_on()) ask();
  return asked_ && account_.is_on();
}

void ChunkNamer::wait_for_answer(std::chrono::microseconds longest) {
  UniqueLock lock(mutex_);
  changed_.wait_for(lock, longest, [this]() GT_REQUIRES(mutex_) { return closed_ || answered_; });
}

ChunkNamer::Plan ChunkNamer::plan(ByteView chunk) {
  Plan plan;
  if (chunk.size() < LeastBytes || !account_.is_on()) return plan;
  if (!has_answer()) {
    plan.keep = is_asking();  // the next run may have it by name
    return plan;
  }
  bool any_known = false;
  {
    const MutexLock lock(mutex_);
    any_known = !known_.empty();
  }
  for (size_t at = 0; any_known && at < chunk.size() && account_.may_name(); at += chunks::PieceBytes) {
    const ByteView piece = chunk.subspan(at, std::min<size_t>(chunks::PieceBytes, chunk.size() - at));
    plan.names.push_back(known_name(piece));
    if (plan.names.back()) plan.named_bytes += piece.size();
  }
  if (plan.named_bytes == 0) plan.names.clear();
  plan.keep = plan.named_bytes < chunk.size() && account_.may_keep(chunk.size() - plan.named_bytes);
  return plan;
}

void ChunkNamer::lacks(const chunks::Name& name, uint64_t bytes) {
  account_.missed(bytes);
  const MutexLock lock(mutex_);
  known_.erase(chunks::shortened(name));
}

}  // namespace gt::virt
