#include "optimizer-rt/client/session/bulk_sender.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "optimizer-rt/client/session/count_move.h"
#include "transport/protocol/messages.h"
#include "transport/staging/program_faults.h"
#include "transport/staging/thread.h"

namespace gt::virt {

void BulkSender::open(wire::Link& link, wire::SegmentId segment, uint32_t slots, uint64_t slot_bytes) {
  link_ = &link;
  slots_.open(segment, slots, slot_bytes);
}

void BulkSender::open_names(const wire::ChunkOffer& offer, const ChunkNaming& naming, ChunkNamer::Ask ask) {
  offer_ = offer;
  namer_.open(offer, naming, std::move(ask));
}

void BulkSender::open_packing(const wire::ChunkOffer& offer, chunks::Packing packing) {
  offer_ = offer;
  packer_.open(packing);
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
  const bool timed = chunk.bytes.size() >= wire::Link::LeastPaced &&
                     (namer_.account().wants_measure() || packer_.account().wants_measure());
  if (!timed) await_names(chunk.bytes.size());
  ChunkNamer::Plan plan = namer_.plan(chunk.bytes);
  if (timed && plan.named_bytes == 0) return send_timed(chunk, plan.keep, sent);
  Bytes packed;
  const std::vector<size_t> sizes = pack(chunk, plan, packed);
  namer_.account().sent(chunk.bytes.size() - plan.named_bytes);
  if (plan.named_bytes != 0 || !sizes.empty())
    return send_by_recipe(chunk, std::move(plan), sizes, std::move(packed), sent);
  put_last(chunk, 0, chunk.bytes.size(), plan.keep ? wire::Keep : 0, sent);
}

// What the executor has may make most of what follows needless: until it has said so, the link has enough with what is
// on its way.
void BulkSender::await_names(size_t bytes) {
  constexpr std::chrono::microseconds Look{500};
  if (!namer_.asks(bytes)) return;
  while (namer_.is_asking() && last_put_ != 0 && !link_->test(last_put_)) namer_.wait_for_answer(Look);
}

// What is left of it when the time is known keeps the link busy while the next chunk is made ready.
void BulkSender::send_timed(const Chunk& chunk, bool keep, Sent& sent) {
  const uint64_t bytes = chunk.bytes.size();
  put_last(chunk, 0, bytes, keep ? wire::Keep : 0, sent);
  const std::optional<wire::Pace> pace = link_->pace(sent.tickets.back(), bytes / 4 * 3);
  if (!pace) return;
  namer_.account().measured(pace->bytes, pace->ns);
  packer_.account().measured(pace->bytes, pace->ns);
}

// Of each piece the packed bytes, which lie in `packed` where the piece lies in the chunk; 0: it goes otherwise. None:
// all do.
std::vector<size_t> BulkSender::pack(const Chunk& chunk, const ChunkNamer::Plan& plan, Bytes& packed) {
  std::vector<size_t> sizes;
  if (!packer_.account().is_on()) return packer_.account().sent(chunk.bytes.size() - plan.named_bytes), sizes;
  const size_t bytes = chunk.bytes.size(), pieces = chunks::pieces_of(bytes);
  packed = take_spare();
  packed.resize(std::max(packed.size(), bytes));
  bool any = false;
  for (size_t i = 0; i < pieces; ++i) {
    const size_t begin = i * chunks::PieceBytes, length = chunks::piece_bytes(bytes, i);
    const bool named = i < plan.names.size() && plan.names[i];
    const auto room = std::span(packed).subspan(begin, length);
    sizes.push_back(named ? 0 : packer_.pack(chunk.bytes.subspan(begin, length), room));
    any = any || sizes.back() != 0;
  }
  if (any) return sizes;
  spare_.push_back(std::move(packed));
  return {};
}

Bytes BulkSender::take_spare() {
  if (spare_.empty()) return {};
  Bytes bytes = std::move(spare_.back());
  spare_.pop_back();
  return bytes;
}

void BulkSender::put(const Chunk& chunk, size_t begin, size_t end, Sent& sent) {
  wire::Address to = slots_.address(chunk.slot);
  to.offset += begin;
  sent.tickets.push_back(link_->put(chunk.bytes.data() + begin, to, end - begin));
}

void BulkSender::put_last(const Chunk& chunk, size_t begin, size_t end, uint32_t flags, Sent& sent) {
  wire::Address to = slots_.address(chunk.slot);
  to.offset += begin;
  last_put_ =
      link_->put(chunk.bytes.data() + begin, to, end - begin, wire::chunk_notice(chunk.transfer, chunk.slot | flags));
  sent.tickets.push_back(last_put_);
}

// Pieces that are given stand in one put where they are neighbours.
void BulkSender::send_by_recipe(const Chunk& chunk, ChunkNamer::Plan&& plan, const std::vector<size_t>& sizes,
                                Bytes&& packed, Sent& sent) {
  const size_t bytes = chunk.bytes.size(), pieces = chunks::pieces_of(bytes);
  plan.names.resize(pieces);
  wire::Recipe recipe;
  recipe.bytes = static_cast<uint32_t>(bytes);
  size_t given = 0;  // where those that are to be put begin
  uint64_t saved = 0;
  const wire::Address slot = slots_.address(chunk.slot);
  for (size_t i = 0; i < pieces; ++i) {
    const size_t begin = i * chunks::PieceBytes, end = begin + chunks::piece_bytes(bytes, i);
    const size_t size = sizes.empty() ? 0 : sizes[i];
    wire::Piece& piece = recipe.pieces.emplace_back();
    if (!plan.names[i] && size == 0) continue;
    if (begin > given) put(chunk, given, begin, sent);
    given = end;
    if (plan.names[i]) {
      piece.form = wire::PieceForm::Named;
      piece.name = *plan.names[i];
      continue;
    }
    piece.form = wire::PieceForm::Packed;
    piece.packed = static_cast<uint32_t>(size);
    saved += end - begin - size;
    sent.tickets.push_back(link_->put(packed.data() + begin, {slot.segment, slot.offset + begin}, size));
  }
  if (bytes > given) put(chunk, given, bytes, sent);
  Bytes encoded;
  wire::Encoder encoder(encoded);
  encoder(recipe);
  const uint32_t flags = wire::ByRecipe | (plan.keep ? wire::Keep : 0);
  sent.tickets.push_back(link_->put(encoded.data(), {offer_.recipe_segment, uint64_t{chunk.slot} * offer_.recipe_bytes},
                                    encoded.size(), wire::chunk_notice(chunk.transfer, chunk.slot | flags)));
  under_way_.push_back({sent.tickets.back(), std::move(encoded)});
  if (saved) under_way_.push_back({sent.tickets.back(), std::move(packed)});
  by_name_[chunk.slot] = {&sent, chunk, std::move(plan.names)};
  ++sent.unfilled;
  if (plan.named_bytes) count_move(&memory::MoveCounts::known, plan.named_bytes);
  if (saved) count_move(&memory::MoveCounts::packed, saved);
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
    count_move(&memory::MoveCounts::missed, end - begin);
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
  constexpr size_t SpareBytes = size_t{64} << 10;  // recipes are smaller
  for (; !under_way_.empty() && link_->test(under_way_.front().ticket); under_way_.pop_front())
    if (under_way_.front().bytes.size() >= SpareBytes) spare_.push_back(std::move(under_way_.front().bytes));
  const auto is_over = [&](const Sent& s) { return s.whole && s.unfilled == 0 && link_->test_all(s.tickets); };
  for (; !sent_.empty() && is_over(sent_.front()); sent_.pop_front()) sent_.front().done();
}

bool BulkSender::has_jobs() {
  const MutexLock lock(mutex_);
  return !jobs_.empty();
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
