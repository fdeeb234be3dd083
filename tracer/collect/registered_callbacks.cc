#include "tracer/collect/registered_callbacks.h"

#include "traces/api/callback_fn.h"

namespace gt::tracer {

bool RegisteredCallbacks::take(TracedThread& thread, const RecordView& record) {
  ByteReader in(record.payload);
  const uint64_t number = in.fixed64();
  PendingCall& call = thread.pending;
  if (!in.ok() || !call.open || call.registration.number != 0 || number == 0) return false;
  const model::ClassId cls = tables_.class_of(thread, model::ObjectKind::Callback);
  RegisteredCallback callback{tables_.names.create_once(cls), &thread, {}, false, false};
  callback.build = record.header.fn == static_cast<uint16_t>(api::CallbackFn::Program);
  if (const Handle* subject = thread.process->objects.handles.find(call.first_handle)) {
    callback.subject = {call.first_handle, subject->object};
  }
  call.registration = {number, callback.object};
  of(*thread.process)[number] = callback;
  return true;
}

// A call that failed has registered nothing, unless the callback was called all the same (a build that failed). One
// that was called for the last time is forgotten already.
void RegisteredCallbacks::define(TracedThread& thread) {
  PendingCall& call = thread.pending;
  const CallRegistration& made = call.registration;
  if (made.number == 0) return;
  const RegisteredCallback* callback = find(*thread.process, made.number);
  if (call.error && callback && !callback->called && !callback->build) {
    forget(*thread.process, made.number);
  } else {
    call.add_object(model::ParamCallback, model::Effect::Def, made.callback);
  }
}

RegisteredCallback* RegisteredCallbacks::find(const TracedProcess& process, uint64_t number) {
  Table& table = of(process);
  const auto it = table.find(number);
  return it == table.end() ? nullptr : &it->second;
}

}  // namespace gt::tracer
