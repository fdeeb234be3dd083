#include "tracer/collect/opencl_calls.h"

#include <algorithm>

#include "traces/model/fold/address_param.h"

namespace gt::tracer {

using model::ArgForm;

void OpenClCalls::begin(TracedThread& thread, const RecordView& record, model::SiteId site, uint64_t stack_pointer) {
  PendingCall& call = thread.pending;
  call.begin(record.header.fn, site, thread.id);
  call.ticks = record.header.ticks;
  call.stack_pointer = stack_pointer;
  call.add_number(model::ParamAllocs, ArgForm::Int, static_cast<int64_t>(memory_.calls_since(thread)));
}

bool OpenClCalls::enter(TracedThread& thread, const RecordView& record) {
  ByteReader in(record.payload);
  const uint64_t site = in.fixed64(), stack_pointer = in.fixed64();
  end_open(thread, record.header.ticks);
  begin(thread, record, tables_.site_of(*thread.process, site), stack_pointer);
  thread.pending.sequence = thread.sequence++;
  ++calls_;
  ++thread.process->calls;
  return naming_.enter(thread, in.raw(in.remaining()), in.ok());
}

bool OpenClCalls::exit(TracedThread& thread, const RecordView& record, bool timed) {
  const bool sound = naming_.leave(thread, record.payload);
  end(thread, false, record.header.ticks, timed);
  return sound;
}

bool OpenClCalls::take_content(TracedThread& thread, const RecordView& record) {
  ByteReader in(record.payload);
  const uint64_t hash = in.fixed64(), bytes = in.fixed64(), ticks = in.fixed64();
  PendingCall& call = thread.pending;
  if (!in.ok() || !call.open) return false;
  call.content.captured = true;
  if (bytes != 0) {
    call.content.number = thread.process->contents(hash, bytes);
    (void)contents_.take(thread, call.content.number, bytes);
  }
  call.content.ticks += ticks;
  capture_ticks_ += ticks;
  return true;
}

bool OpenClCalls::take_shared(TracedThread& thread, const RecordView& record) {
  ByteReader in(record.payload);
  const uint64_t address = in.fixed64(), hash = in.fixed64(), bytes = in.fixed64(), ticks = in.fixed64();
  const auto kind = static_cast<SharedKind>(in.fixed64());
  PendingCall& call = thread.pending;
  if (!in.ok() || !call.open) return false;
  unwaited_ += kind == SharedKind::Pending;
  if (of_device(kind)) {
    const int64_t number = bytes == 0 ? UnknownContent : thread.process->contents(hash, bytes);
    const bool kept = bytes != 0 && contents_.take(thread, number, bytes);
    device_.take(thread, {kind, address, number}, bytes, kept);
  } else if (bytes == 0) {
    shared_unseen_ += kind == SharedKind::Launch;
  } else {
    const int64_t number = thread.process->contents(hash, bytes);
    (void)contents_.take(thread, number, bytes);
    call.content.shared.emplace_back(address, number);
    waited_ += kind == SharedKind::Waited;
  }
  call.content.ticks += ticks;
  capture_ticks_ += ticks;
  return true;
}

bool OpenClCalls::take_fresh(TracedThread& thread, const RecordView& record) {
  ByteReader in(record.payload);
  const uint64_t bytes = in.fixed64(), fresh = in.fixed64(), ticks = in.fixed64();
  PendingCall& call = thread.pending;
  if (!in.ok() || !call.open || fresh > bytes) return false;
  call.fresh = {bytes, fresh, ticks};
  fresh_ticks_ += ticks;
  return true;
}

void OpenClCalls::end(TracedThread& thread, bool unfinished, uint64_t ticks, bool timed) {
  PendingCall& call = thread.pending;
  if (!unfinished) {
    naming_.after_call(thread);
    files_.after_call(thread);
  }
  callbacks_.define(thread);
  naming_.add_updates(thread);
  if (call.shared_at != 0 && contents_.kept())
    call.add_number(model::ParamAddress, ArgForm::Int, static_cast<int64_t>(call.shared_at));
  for (const auto& [address, number] : call.content.shared) naming_.add_shared(thread, address, number);
  device_.name(thread);
  if (call.content.captured) call.add_number(model::ParamContent, ArgForm::Int, call.content.number);
  call.end(unfinished);
  const uint64_t whole = ticks - call.ticks, aside = call.content.ticks + call.fresh.ticks;
  list_.add_call(thread, clock_.to_ns(whole - std::min(aside, whole)), timed);
}

}  // namespace gt::tracer
