// What the recorder saw of a call beyond its arguments: the contents that it moves, the size of what it made.
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

// What the arguments say of it was taken at the call's entry, and is nothing.
void Collector::take_memory_facts(Thread& thread, const RecordView& record) {
  ByteReader in(record.payload);
  const uint64_t bytes = in.fixed64(), element_bytes = in.fixed64();
  if (!in.ok() || !thread.pending.open) {
    ++undecodable_;
    return;
  }
  thread.pending.made.facts = {bytes, element_bytes};
}

}  // namespace gt::tracer
