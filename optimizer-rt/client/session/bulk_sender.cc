#include "optimizer-rt/client/session/bulk_sender.h"

#include <algorithm>
#include <utility>

#include "optimizer-rt/client/base/optimizer.h"
#include "traces/base/clock.h"
#include "transport/memory/move_counts.h"
#include "transport/protocol/messages.h"
#include "transport/staging/program_faults.h"
#include "transport/staging/thread.h"

namespace gt::virt {
namespace {

void count(memory::MoveCounts::Way memory::MoveCounts::* way, uint64_t bytes) {
  if (const Optimizer* const us = optimizer()) {
    ++(us->moves->*way).moves;
    (us->moves->*way).bytes += bytes;
  }
}

}  // namespace

void BulkSender::open(wire::Link& link, wire::SegmentId segment, uint32_t slots, uint64_t slot_bytes) {
  link_ = &link;
  slots_.open(segment, slots, slot_bytes);
}

void BulkSender::open_names(const wire::ChunkOffer& offer, const ChunkNaming& naming, ChunkNamer::Ask ask) {
  offer_ = offer;
  namer_.open(offer, naming, std::move(ask));
}

void BulkSender::filled(wire::Filled filled) {
  {
    const MutexLock lock(mutex_);
    filled_.push_back(std::move(filled));
    changed_.notify_all();
  }
  slots_.wake();
}

void BulkSender::close() {
  slots_.close();
  namer_.close();
  const MutexLock lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

void BulkSender::stream(uint32_t transfer, const copy::Region& part, uint64_t element, const void* from, Done done) {
  const MutexLock lock(mutex_);
  jobs_.push_back({transfer, part, element, static_cast<const uint8_t*>(from), std::move(done)});
  if (!started_) started_ = staging::start_detached("gt-bulk-send", &BulkSender::run, this);
  changed_.notify_all();
}

void* BulkSender::run(void* self) {
  static_cast<BulkSender*>(self)->loop();
  return nullptr;
}

// There is something to do, or to wait for at the link.
bool BulkSender::is_wanted() {
  return !jobs_.empty() || !filled_.empty() || (!sent_.empty() && (closed_ || sent_.front().unfilled == 0));
}

void BulkSender::loop() {
  for (;;) {
    Job job;
    {
      UniqueLock lock(mutex_);
      changed_.wait(lock, [this]() GT_REQUIRES(mutex_) { return is_wanted(); });
      if (!jobs_.empty()) {
        job = std::move(jobs_.front());
        jobs_.pop_front();
      }
    }
    answer_filled();
    if (job.from)
      send(job);
    else if (!sent_.empty() && sent_.front().unfilled == 0)  // nothing else to do
      (void)link_->wait_all(sent_.front().tickets).ok();
    retire();
  }
}

void BulkSender::send(Job& job) {
  Sent& sent = sent_.emplace_back();
  sent.done = std::move(job.done);
  const copy::Chunks chunks(job.part, job.element, chunk_bytes(copy::packed_bytes(job.part, job.element)));
  for (uint64_t i = 0; chunks.valid() && i < chunks.count(); ++i) {
    uint32_t slot = 0;
    if (!take_slot(slot)) break;
    const copy::Chunks::Chunk chunk = chunks.at(i);
    // The program's handler runs here, not where the link has a lock.
    if (staging::faults_are_handled()) staging::touch(job.from + chunk.offset, chunk.bytes);
    send_chunk({job.transfer, slot, {job.from + chunk.offset, chunk.bytes}}, sent);
    retire();
  }
  if (timed_) take_time(*std::exchange(timed_, std::nullopt));
  sent.whole = true;
}

// What executors lack of earlier chunks goes first: their slots may be the ones that are waited for.
bool BulkSender::take_slot(uint32_t& slot) {
  for (;;) {
    const wire::Slots::Outcome outcome = slots_.take_unless_woken(slot);
    if (outcome != wire::Slots::Outcome::Woken) return outcome == wire::Slots::Outcome::Taken;
    answer_filled();
  }
}

void BulkSender::send_chunk(const Chunk& chunk, Sent& sent) {
  constexpr size_t LeastTimed = size_t{1} << 20;
  if (chunk.bytes.size() >= LeastTimed && namer_.account().wants_measure()) return send_timed(chunk, sent);
  ChunkNamer::Plan plan = namer_.plan(chunk.bytes);
  if (plan.named_bytes != 0) return send_by_name(chunk, std::move(plan), sent);
  put_last(chunk, 0, chunk.bytes.size(), plan.keep ? wire::Keep : 0, sent);
  namer_.account().sent(chunk.bytes.size());
  // Not far ahead of an answer that may make most of it needless; the link is slow, and has enough with two.
  if (namer_.is_asking() && sent.tickets.size() >= 2) (void)link_->wait(sent.tickets[sent.tickets.size() - 2]).ok();
}

// While this one is under way the one before it arrives: from then on the link has nothing else to do, so what a round
// trip takes does not count, but for the first. One that has arrived already is not timed: nobody knows when it did, as
// a slot may have been waited for.
void BulkSender::send_timed(const Chunk& chunk, Sent& sent) {
  std::optional<Timed> before = timed_;
  if (before && link_->test(before->ticket)) before.reset();
  const uint64_t now = monotonic_ns();
  put_last(chunk, 0, chunk.bytes.size(), namer_.may_keep(chunk.bytes.size()) ? wire::Keep : 0, sent);
  timed_ = {sent.tickets.back(), chunk.bytes.size(), now};
  if (before) take_time(*before);
}

void BulkSender::take_time(const Timed& chunk) {
  if (!link_->wait(chunk.ticket).ok()) return;
  const uint64_t now = monotonic_ns();
  namer_.account().measured(chunk.bytes, now - std::max(chunk.begin_ns, timed_until_ns_));
  timed_until_ns_ = now;
  if (!namer_.account().wants_measure()) timed_.reset();
}

void BulkSender::put(const Chunk& chunk, size_t begin, size_t end, Sent& sent) {
  wire::Address to = slots_.address(chunk.slot);
  to.offset += begin;
  sent.tickets.push_back(link_->put(chunk.bytes.data() + begin, to, end - begin));
}

void BulkSender::put_last(const Chunk& chunk, size_t begin, size_t end, uint32_t flags, Sent& sent) {
  wire::Address to = slots_.address(chunk.slot);
  to.offset += begin;
  sent.tickets.push_back(link_->put(chunk.bytes.data() + begin, to, end - begin,
                                    wire::chunk_notice(chunk.transfer, chunk.slot | flags)));
}

void BulkSender::send_by_name(const Chunk& chunk, ChunkNamer::Plan&& plan, Sent& sent) {
  const size_t bytes = chunk.bytes.size(), pieces = (bytes + chunks::PieceBytes - 1) / chunks::PieceBytes;
  plan.names.resize(pieces);
  wire::Recipe recipe;
  recipe.bytes = static_cast<uint32_t>(bytes);
  size_t given = 0;  // where those that are to be put begin
  for (size_t i = 0; i < pieces; ++i) {
    const size_t begin = i * chunks::PieceBytes, end = std::min(begin + chunks::PieceBytes, bytes);
    wire::Piece& piece = recipe.pieces.emplace_back();
    if (plan.names[i]) {
      piece.form = wire::PieceForm::Named;
      piece.name = *plan.names[i];
      if (begin > given) put(chunk, given, begin, sent);
      given = end;
    }
  }
  if (bytes > given) put(chunk, given, bytes, sent);
  Bytes& encoded = sent.recipes.emplace_back();
  wire::Encoder encoder(encoded);
  encoder(recipe);
  by_name_[chunk.slot] = {&sent, chunk, std::move(plan.names)};
  ++sent.unfilled;
  const uint32_t flags = wire::ByRecipe | (plan.keep ? wire::Keep : 0);
  sent.tickets.push_back(link_->put(encoded.data(),
                                    {offer_.recipe_segment, uint64_t{chunk.slot} * offer_.recipe_bytes},
                                    encoded.size(), wire::chunk_notice(chunk.transfer, chunk.slot | flags)));
  namer_.account().sent(bytes - plan.named_bytes);
  count(&memory::MoveCounts::known, plan.named_bytes);
}

void BulkSender::answer_filled() {
  std::deque<wire::Filled> filled;
  {
    const MutexLock lock(mutex_);
    filled.swap(filled_);
  }
  for (const wire::Filled& f : filled) answer(f);
}

// The pieces that the executor lacks, in one go, the last one with the notice.
void BulkSender::answer(const wire::Filled& filled) {
  const auto found = by_name_.find(filled.slot);
  if (found == by_name_.end()) return;
  const ByName by_name = std::move(found->second);
  by_name_.erase(found);
  --by_name.sent->unfilled;
  const Chunk& chunk = by_name.chunk;
  for (const uint16_t& i : filled.missing) {
    if (i >= by_name.names.size() || !by_name.names[i]) return link_->close();
    const size_t begin = size_t{i} * chunks::PieceBytes;
    const size_t end = std::min<size_t>(begin + chunks::PieceBytes, chunk.bytes.size());
    namer_.lacks(*by_name.names[i], end - begin);
    count(&memory::MoveCounts::missed, end - begin);
    if (&i == &filled.missing.back())
      put_last(chunk, begin, end, wire::Completes, *by_name.sent);
    else
      put(chunk, begin, end, *by_name.sent);
  }
}

// Whose bytes have arrived. Closed: tickets are over, and who waits for the transfer learns of it by its event.
void BulkSender::retire() {
  if (is_closed()) {
    by_name_.clear();
    for (Sent& sent : sent_) sent.unfilled = 0;
  }
  const auto is_over = [&](const Sent& s) { return s.whole && s.unfilled == 0 && link_->test_all(s.tickets); };
  for (; !sent_.empty() && is_over(sent_.front()); sent_.pop_front()) sent_.front().done();
}

bool BulkSender::is_closed() {
  const MutexLock lock(mutex_);
  return closed_;
}

// A chunk costs some seven wake-ups and a command of the driver, whatever its size (docs/measurements/remote.md).
uint32_t BulkSender::chunk_bytes(uint64_t transfer_bytes) const {
  constexpr uint64_t Least = uint64_t{1} << 20, Parts = 4;
  const uint64_t part = (transfer_bytes / Parts + Least - 1) / Least * Least;
  return static_cast<uint32_t>(std::min(std::max(part, Least), slots_.slot_bytes()));
}

}  // namespace gt::virt
