// What the driver calls in the place of a function of the program: records the call, and calls that function.
//
// Invariant: nothing here must be unwound (callbacks.h). Thread safety: any thread; no lock.
#pragma once

#include <CL/cl.h>

#include <cstdint>

#include "tracer/lib/capture_choice.h"
#include "tracer/lib/recorder.h"
#include "tracer/lib/registration.h"
#include "tracer/lib/ring_writer.h"
#include "traces/api/callback_fn.h"
#include "traces/api/encode.h"
#include "traces/base/reentry.h"

namespace gt::tracer::detail {

// Makes the thread the program's for a while. Left by a jump or an exception it stays the program's, which is where
// such a jump leads to.
class ProgramRuns {
 public:
  ProgramRuns() : before_(t_flags), choice_(t_choice) {
    t_flags = {};
    t_choice.in_callback = true;
  }
  ~ProgramRuns() {
    t_flags = before_;
    t_choice = choice_;
  }
  ProgramRuns(const ProgramRuns&) = delete;
  ProgramRuns& operator=(const ProgramRuns&) = delete;

 private:
  ThreadFlags before_;
  CallChoice choice_;
};

template <CallbackFn K, class... Given>
bool record_callback_enter(const Called& callback, const void* stack, Given... given) {
  constexpr api::FnId F = api::fn_id(K);
  if (!recording()) return false;
  const Reentry guard;
  Ring* ring = this_ring();
  if (!ring) return false;
  SizeWriter size;
  api::encode_inputs<F, api::Contents::None>(size, callback.function, given...);
  const auto bytes = static_cast<uint32_t>(sizeof(RecordHeader)) + 16 + size.size();
  uint8_t* at = reserve(*ring, RecordType::CallbackEnter, api::number(F), bytes, ticks_after_loads());
  if (!at) return false;
  RingWriter out(at);
  out.word(callback.id);
  out.word(reinterpret_cast<uint64_t>(stack));
  api::encode_inputs<F, api::Contents::None>(out, callback.function, given...);
  commit(*ring, bytes);
  return true;
}

inline void record_callback_exit(CallbackFn kind) {
  const Reentry guard;
  record(RecordType::CallbackExit, static_cast<uint16_t>(kind), ticks());
}

template <CallbackFn K, class Call, class... Recorded>
void invoke(const Called& callback, const void* stack, Call call, Recorded... recorded) {
  const bool entered = record_callback_enter<K>(callback, stack, recorded...);
  {
    const ProgramRuns program;
    call();
  }
  if (entered) record_callback_exit(K);
}

// What the driver calls. Given: what it passes, before the user data.
template <CallbackFn K, class... Given>
struct Trampoline {
  static void CL_CALLBACK run(Given... given, void* user_data) {
    const Called callback = called(*static_cast<Registration*>(user_data), K);
    if (!callback.function) return;  // a context that has one for what kernels print only
    const auto function = reinterpret_cast<void(CL_CALLBACK*)(Given..., void*)>(callback.function);
    invoke<K>(
        callback, __builtin_frame_address(0), [&] { function(given..., callback.data); }, given...);
  }
};

template <CallbackFn K, class A>
auto trampoline_for(void(CL_CALLBACK*)(A, void*)) {
  return &Trampoline<K, A>::run;
}
template <CallbackFn K, class A, class B>
auto trampoline_for(void(CL_CALLBACK*)(A, B, void*)) {
  return &Trampoline<K, A, B>::run;
}
template <CallbackFn K, class A, class B, class C>
auto trampoline_for(void(CL_CALLBACK*)(A, B, C, void*)) {
  return &Trampoline<K, A, B, C>::run;
}

}  // namespace gt::tracer::detail
