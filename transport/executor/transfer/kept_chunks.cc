#include "transport/executor/transfer/kept_chunks.h"

#include <algorithm>
#include <cstring>

namespace gt::exec {
namespace {

constexpr size_t StackBytes = size_t{256} << 10;
constexpr size_t MostRecalled = size_t{1} << 16;  // a message of 256 KiB

using chunks::piece_bytes;
using chunks::pieces_of;

}  // namespace

Status KeptChunks::open(wire::Link& link) {
  constexpr size_t MostPieces = 64;  // bits of a Mask
  if (inbox_->slots() == 0 || pieces_of(inbox_->slot_bytes()) > MostPieces) return {};
  uint32_t forms = 0;
  const Options& options = session_->options;
  if (options.open_chunk_store && chunks::PieceNamer::available().ok()) forms |= bit_of(wire::PieceForm::Named);
  if (options.packs && chunks::PiecePacker::available().ok()) forms |= bit_of(wire::PieceForm::Packed);
  if (forms == 0) return {};
  const uint32_t room = wire::recipe_bytes(inbox_->slot_bytes(), chunks::PieceBytes);
  void* base = nullptr;
  const Result<wire::SegmentId> segment = link.allocate(size_t{inbox_->slots()} * room, &base);
  if (!segment) return segment.status();
  recipes_ = static_cast<uint8_t*>(base);
  offer_ = {chunks::PieceBytes, *segment, room, forms | bit_of(wire::PieceForm::Given)};
  const MutexLock lock(mutex_);
  queued_.resize(inbox_->slots());
  asked_.resize(inbox_->slots());
  return {};
}

// --- What comes in ---

bool KeptChunks::recall(const wire::Recall& m) {
  Task task;
  task.kind = Task::Kind::Recall;
  task.key = session_->options.chunk_key;
  if (m.key.size() == task.key.size()) std::copy(m.key.begin(), m.key.end(), task.key.begin());
  const MutexLock lock(mutex_);
  if (!recipes_ || recalled_ || !start_thread()) return false;
  recalled_ = true;
  tasks_.push_back(task);
  changed_.notify_one();
  return true;
}

// With the first message that needs it.
bool KeptChunks::start_thread() {
  const auto run_it = [self = shared_from_this()] { self->run(); };
  if (!started_) started_ = session_->threads.start("gtrace-chunks", StackBytes, run_it);
  return started_;
}

bool KeptChunks::arrive(wire::Notice notice, uint64_t bytes) {
  if (!recipes_) return inbox_->arrive(notice, bytes);
  const wire::Notice plain = wire::without_flags(notice);
  Task task;
  task.slot = wire::slot_of(plain);
  task.transfer = wire::transfer_of(plain);
  task.flags = wire::flags_of(notice);
  task.bytes = bytes;
  if (task.slot >= inbox_->slots()) return false;
  if (task.flags & wire::Completes) return complete(task);
  {
    const MutexLock lock(mutex_);
    const bool by_recipe = task.flags & wire::ByRecipe;
    if (by_recipe && bytes > offer_.recipe_bytes) return false;
    if (closed_) return true;
    if (by_recipe && !start_thread()) return false;
    if (by_recipe || under_way_.contains(task.transfer)) {
      if (queued_[task.slot]) return false;
      queued_[task.slot] = true;
      ++under_way_[task.transfer];
      tasks_.push_back(task);
      changed_.notify_one();
      return true;
    }
  }
  return deliver(task, bytes, 0);
}

bool KeptChunks::complete(const Task& arrived) {
  Task task = arrived;
  task.kind = Task::Kind::Complete;
  const MutexLock lock(mutex_);
  if (!asked_[task.slot]) return false;
  asked_[task.slot] = false;
  tasks_.push_back(task);
  changed_.notify_one();
  return true;
}

void KeptChunks::close() {
  const MutexLock lock(mutex_);
  closed_ = true;
  changed_.notify_one();
}

// To the inbox, and if it may be kept, back here; not if there are many who wait for that: the client needs its slots.
bool KeptChunks::deliver(const Task& task, uint64_t bytes, Mask named) {
  bool keep = (task.flags & wire::Keep) != 0;
  {
    const MutexLock lock(mutex_);
    queued_[task.slot] = false;  // the client may have it back at any time from here on
    keep = keep && recalled_ && !closed_ && (to_keep_ + 1) * 2 <= inbox_->slots();
    to_keep_ += keep;
  }
  if (keep) inbox_->hold(task.slot);
  if (!inbox_->arrive(wire::chunk_notice(task.transfer, task.slot), bytes)) return false;
  if (!keep) return true;
  Task then = task;
  then.kind = Task::Kind::Keep;
  then.bytes = bytes;
  then.named = named;
  const MutexLock lock(mutex_);
  tasks_.push_back(then);
  changed_.notify_one();
  return true;
}

// --- The thread ---

void KeptChunks::run() {
  try {
    run_all();
  } catch (...) {  // no memory
    if (const MessageSender::Use use(session_->out); use.open()) use.link().close();
  }
}

void KeptChunks::run_all() {
  piece_.resize(chunks::PieceBytes);
  for (;;) {
    Task task;
    {
      UniqueLock lock(mutex_);
      changed_.wait(lock, [this]() GT_REQUIRES(mutex_) { return closed_ || !tasks_.empty(); });
      if (closed_) return;
      task = tasks_.front();
      tasks_.pop_front();
    }
    if (do_task(task)) continue;
    if (const MessageSender::Use use(session_->out); use.open()) use.link().close();
    return;
  }
}

// False: what the client sent is wrong.
bool KeptChunks::do_task(const Task& task) {
  switch (task.kind) {
    case Task::Kind::Recall: return do_recall(task), true;
    case Task::Kind::Keep: return do_keep(task), true;
    case Task::Kind::Complete: return do_complete(task);
    case Task::Kind::Chunk: return do_chunk(task);
  }
  return false;
}

Result<chunks::ChunkStore> KeptChunks::open_store(const chunks::Key& key) {
  if (key == chunks::Key{}) return Status(Kind::Invalid, "neither a token nor a key says whose chunks these are");
  Fd file = session_->options.open_chunk_store(chunks::owner_of(key));
  if (!file.open()) return Status(Kind::Unsupported, "there is no store of chunks for this client");
  return chunks::ChunkStore::open(std::move(file), key);
}

void KeptChunks::do_recall(const Task& task) {
  wire::Kept kept;
  may_name_ = true;
  Result<chunks::ChunkStore> store = open_store(task.key);
  if (store) {
    namer_.emplace(task.key);
    store_.emplace(std::move(*store));
    kept.room = store_->room();
    kept.names = store_->recall(MostRecalled);
  } else if (session_->options.log) {
    session_->options.log("chunks are not kept: " + store.status().text());
  }
  session_->out.send(kept);
}

bool KeptChunks::do_chunk(const Task& task) {
  if (const auto blocked = blocked_.find(task.transfer); blocked != blocked_.end())
    return blocked->second.push_back(task), true;
  if (task.flags & wire::ByRecipe) return fill(task);
  if (!deliver(task, task.bytes, 0)) return false;
  over(task.transfer);
  return true;
}

// A copy: what is in a slot may change while it is looked at.
bool KeptChunks::unpack(const wire::Piece& piece, std::span<uint8_t> to) {
  if (piece.packed > to.size() || !piece.name.empty() || (offer_.forms & bit_of(wire::PieceForm::Packed)) == 0)
    return false;
  if (!packer_) packer_.emplace();
  std::memcpy(piece_.data(), to.data(), piece.packed);
  if (packer_->unpack(ByteView(piece_).first(piece.packed), to)) {
    session_->count.packed_bytes_in += to.size() - piece.packed;
    return true;
  }
  if (session_->options.log) session_->options.log("the client sent compressed data that is damaged");
  return false;
}

// From the store what is named; what is not there is asked for.
bool KeptChunks::fill(const Task& task) {
  const uint8_t* const at = recipes_ + size_t{task.slot} * offer_.recipe_bytes;
  const Bytes bytes(at, at + task.bytes);  // the client may write there again
  wire::Recipe recipe;
  wire::Decoder decoder(bytes);
  decoder(recipe);
  const bool fits = decoder.ok() && recipe.bytes > 0 && recipe.bytes <= inbox_->slot_bytes() &&
                    recipe.pieces.size() == pieces_of(recipe.bytes);
  if (!fits) return false;
  wire::Filled filled{task.slot, {}};
  Mask named = 0;
  uint64_t known = 0, missed = 0;
  for (size_t i = 0; i < recipe.pieces.size(); ++i) {
    const wire::Piece& piece = recipe.pieces[i];
    const uint64_t length = piece_bytes(recipe.bytes, i);
    auto* const to = static_cast<uint8_t*>(inbox_->memory(task.slot)) + i * chunks::PieceBytes;
    if (piece.form == wire::PieceForm::Packed) {
      if (!unpack(piece, {to, length})) return false;
      continue;
    }
    if (piece.packed != 0 || piece.form > wire::PieceForm::Named) return false;
    if (piece.form == wire::PieceForm::Given) continue;
    chunks::Name name;
    if (!may_name_ || piece.name.size() != name.size()) return false;
    std::copy(piece.name.begin(), piece.name.end(), name.begin());
    const bool found = store_ && store_->read(name, to, length);
    (found ? known : missed) += length;
    if (found)
      named |= Mask{1} << i;
    else
      filled.missing.push_back(static_cast<uint16_t>(i));
  }
  session_->count.known_bytes += known;
  session_->count.missed_bytes += missed;
  const bool whole = filled.missing.empty();
  if (!whole) {
    incomplete_[task.slot] = {task.transfer, task.flags, recipe.bytes, named};
    blocked_[task.transfer];
    const MutexLock lock(mutex_);
    asked_[task.slot] = true;
  }
  session_->out.send(filled);
  if (!whole) return true;
  if (!deliver(task, recipe.bytes, named)) return false;
  over(task.transfer);
  return true;
}

bool KeptChunks::do_complete(const Task& task) {
  const auto waiting = incomplete_.find(task.slot);
  if (waiting == incomplete_.end() || waiting->second.transfer != task.transfer) return false;
  const Incomplete chunk = waiting->second;
  incomplete_.erase(waiting);
  Task whole = task;
  whole.flags = chunk.flags;
  if (!deliver(whole, chunk.bytes, chunk.named)) return false;
  over(task.transfer);
  std::deque<Task> behind = std::move(blocked_[task.transfer]);
  blocked_.erase(task.transfer);
  for (const Task& next : behind)
    if (!do_chunk(next)) return false;
  return true;
}

// The next chunks of the transfer may go to the inbox by themselves.
void KeptChunks::over(uint32_t transfer) {
  const MutexLock lock(mutex_);
  const auto it = under_way_.find(transfer);
  if (it != under_way_.end() && --it->second == 0) under_way_.erase(it);
}

void KeptChunks::do_keep(const Task& task) {
  wire::Kept kept;
  const auto* const from = static_cast<const uint8_t*>(inbox_->memory(task.slot));
  for (size_t i = 0; store_ && i < pieces_of(task.bytes); ++i) {
    if (task.named >> i & 1) continue;
    const uint64_t length = piece_bytes(task.bytes, i);
    std::memcpy(piece_.data(), from + i * chunks::PieceBytes, length);
    const ByteView piece(piece_.data(), length);
    const chunks::Name name = namer_->name(piece);
    if (!store_->has(name)) session_->count.kept_bytes += length;
    if (store_->add(name, piece)) kept.names.push_back(chunks::shortened(name));
  }
  inbox_->let_go(task.slot);
  {
    const MutexLock lock(mutex_);
    --to_keep_;
  }
  if (kept.names.empty()) return;
  kept.room = store_->room();
  session_->out.send(kept);
}

}  // namespace gt::exec
