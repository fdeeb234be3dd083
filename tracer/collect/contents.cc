// What transfers move: --capture.
#include "tracer/collect/collector.h"
#include "tracer/collect/collector_state.h"

namespace gt::tracer {

void Collector::take_content(Thread& thread, const RecordView& record) {
  ByteReader in(record.payload);
  const uint64_t hash = in.fixed64(), bytes = in.fixed64(), ticks = in.fixed64();
  Thread::Pending& call = thread.pending;
  if (!in.ok() || !call.open) {
    ++undecodable_;
    return;
  }
  call.captured = true;
  if (bytes != 0) call.content = thread.process->contents(hash, bytes);
  call.capture_ticks += ticks;
  capture_ticks_ += ticks;
}

}  // namespace gt::tracer
