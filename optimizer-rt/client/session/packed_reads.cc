#include "optimizer-rt/client/session/packed_reads.h"

#include <algorithm>
#include <utility>

#include "optimizer-rt/client/session/count_move.h"

namespace gt::virt {

void PackedReads::expect(uint32_t transfer, wire::ObjectId event, uint8_t* to, const copy::Chunks& chunks) {
  const MutexLock lock(mutex_);
  reads_.insert_or_assign(transfer, Read{event, to, chunks, 0, {}});
  count_ = reads_.size();
}

PackedReads::Arrival PackedReads::arrived(wire::Notice notice, uint64_t bytes) {
  constexpr Arrival Damaged{false, {}};
  const uint32_t transfer = wire::transfer_of(notice), number = wire::slot_of(notice) & ~wire::PackedChunk;
  UniqueLock lock(mutex_);
  const auto found = reads_.find(transfer);
  if (found == reads_.end() || closed_) return {};  // it failed, and its chunks were on their way
  Read& read = found->second;
  if (number != read.arrived || number >= read.chunks.count()) return Damaged;
  const copy::Chunks::Chunk chunk = read.chunks.at(number);
  uint8_t* const at = read.to + chunk.offset;
  if (!(wire::slot_of(notice) & wire::PackedChunk)) {
    if (bytes != chunk.bytes) return Damaged;
  } else {
    if (bytes >= chunk.bytes) return Damaged;
    unpacking_ = transfer;
    lock.unlock();
    const bool sound = unpack({at, bytes}, at, chunk.bytes);
    lock.lock();
    unpacking_.reset();
    changed_.notify_all();
    if (!sound) return Damaged;
    count_move(&memory::MoveCounts::unpacked, chunk.bytes - bytes);
  }
  if (++read.arrived < read.chunks.count() || !read.told) return {};
  Arrival last{true, read.told};
  reads_.erase(found);
  count_ = reads_.size();
  return last;
}

bool PackedReads::unpack(ByteView packed, uint8_t* to, uint64_t bytes) {
  if (!chunks::PiecePacker::available().ok()) return false;
  if (!packer_) packer_.emplace();
  packed_.assign(packed.begin(), packed.end());
  return chunks::unpack_chunk(*packer_, packed_, {to, bytes});
}

PackedReads::Reads::iterator PackedReads::find(wire::ObjectId event) {
  return std::ranges::find_if(reads_, [event](const auto& read) { return read.second.event == event; });
}

bool PackedReads::told(const wire::Completion& completion) {
  if (count_.load(std::memory_order_relaxed) == 0) return false;
  UniqueLock lock(mutex_);
  const auto found = find(completion.event);
  if (found == reads_.end()) return false;
  Read& read = found->second;
  if (completion.status >= 0 && read.arrived < read.chunks.count()) return read.told = completion, true;
  remove(lock, completion.event);
  return false;
}

void PackedReads::forget(wire::ObjectId event) {
  if (count_.load(std::memory_order_relaxed) == 0) return;
  UniqueLock lock(mutex_);
  remove(lock, event);
}

// When it is not being written to.
void PackedReads::remove(UniqueLock& lock, wire::ObjectId event) {
  for (auto found = find(event); found != reads_.end(); found = find(event)) {
    if (unpacking_ != found->first) {
      reads_.erase(found);
      break;
    }
    changed_.wait(lock);
  }
  count_ = reads_.size();
}

void PackedReads::close() {
  UniqueLock lock(mutex_);
  closed_ = true;
  changed_.wait(lock, [this]() GT_REQUIRES(mutex_) { return !unpacking_; });
}

}  // namespace gt::virt
