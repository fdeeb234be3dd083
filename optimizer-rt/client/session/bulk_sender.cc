#include "optimizer-rt/client/session/bulk_sender.h"

#include <algorithm>
#include <utility>

#include "transport/protocol/messages.h"
#include "transport/staging/program_faults.h"
#include "transport/staging/thread.h"

namespace gt::virt {

void BulkSender::open(wire::Link& link, wire::SegmentId segment, uint32_t slots, uint64_t slot_bytes) {
  link_ = &link;
  slots_.open(segment, slots, slot_bytes);
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

void BulkSender::loop() {
  for (;;) {
    Job job;
    {
      UniqueLock lock(mutex_);
      if (sent_.empty()) changed_.wait(lock, [this]() GT_REQUIRES(mutex_) { return !jobs_.empty(); });
      if (!jobs_.empty()) {
        job = std::move(jobs_.front());
        jobs_.pop_front();
      }
    }
    if (job.from)
      send(job);
    else  // nothing else to do
      (void)link_->wait_all(sent_.front().tickets).ok();
    retire();
  }
}

void BulkSender::send(Job& job) {
  Sent sent{{}, std::move(job.done)};
  const copy::Chunks chunks(job.part, job.element, chunk_bytes(copy::packed_bytes(job.part, job.element)));
  for (uint64_t i = 0; chunks.valid() && i < chunks.count(); ++i) {
    uint32_t slot = 0;
    if (!slots_.take(slot)) break;
    const copy::Chunks::Chunk chunk = chunks.at(i);
    // The program's handler runs here, not where the link has a lock.
    if (staging::faults_are_handled()) staging::touch(job.from + chunk.offset, chunk.bytes);
    sent.tickets.push_back(link_->put(job.from + chunk.offset, slots_.address(slot), chunk.bytes,
                                      wire::chunk_notice(job.transfer, slot)));
    retire();
  }
  sent_.push_back(std::move(sent));
}

// Whose bytes have arrived. Closed: tickets are over, and who waits for the transfer learns of it by its event.
void BulkSender::retire() {
  for (; !sent_.empty() && link_->test_all(sent_.front().tickets); sent_.pop_front()) sent_.front().done();
}

// A chunk costs some seven wake-ups and a command of the driver, whatever its size (docs/measurements/remote.md).
uint32_t BulkSender::chunk_bytes(uint64_t transfer_bytes) const {
  constexpr uint64_t Least = uint64_t{1} << 20, Parts = 4;
  const uint64_t part = (transfer_bytes / Parts + Least - 1) / Least * Least;
  return static_cast<uint32_t>(std::min(std::max(part, Least), slots_.slot_bytes()));
}

}  // namespace gt::virt
