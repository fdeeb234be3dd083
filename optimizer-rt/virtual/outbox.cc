#include "optimizer-rt/virtual/outbox.h"

#include <utility>

#include "transport/protocol/messages.h"
#include "transport/staging/thread.h"

namespace gt::virt {

void Outbox::open(wire::Link& link, wire::SegmentId segment, uint32_t slots, uint64_t slot_bytes) {
  link_ = &link;
  slots_.open(segment, slots, slot_bytes);
}

void Outbox::stream(uint32_t transfer, const wire::Part& part, uint64_t element, const void* from, Done done) {
  const std::lock_guard lock(mutex_);
  jobs_.push_back({transfer, part, element, static_cast<const uint8_t*>(from), std::move(done)});
  if (!started_) started_ = staging::start_detached("gt-outbox", &Outbox::run, this);
  changed_.notify_all();
}

void* Outbox::run(void* self) {
  static_cast<Outbox*>(self)->loop();
  return nullptr;
}

void Outbox::loop() {
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !jobs_.empty(); });
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    send(job);
    job.done();
  }
}

void Outbox::send(const Job& job) {
  std::vector<wire::Ticket> tickets;
  const wire::Chunks chunks(job.part, job.element, slots_.slot_bytes());
  for (uint64_t i = 0; chunks.valid() && i < chunks.count(); ++i) {
    uint32_t slot = 0;
    if (!slots_.take(slot)) break;
    const wire::Chunks::Chunk chunk = chunks.at(i);
    tickets.push_back(link_->put(job.from + chunk.offset, slots_.address(slot), chunk.bytes,
                                 wire::chunk_notice(job.transfer, slot)));
  }
  // Closed: tickets are over, and who waits for the transfer learns of it by its event.
  (void)link_->wait_all(tickets).ok();
}

}  // namespace gt::virt
