// Callbacks: the functions of the program that the driver calls, recorded as calls of their own.
//
//   clSetEventCallback(e, type, f, data)        the driver gets     (e, type, trampoline, registration)
//   driver, any thread: trampoline(e, status, registration) ──► CallbackEnter ──► f(e, status, data) ──► CallbackExit
//
// A registration keeps the program's function and data, and a number that links its invocations to the registering call
// (Register record). While the program's function runs, its thread is the program's: what it calls is recorded.
// Invariants: the program's function is called with the program's own arguments whenever the driver calls ours,
// recorded or not. Nothing of ours must be unwound: a callback may exit, throw or jump over us. When there is no
// registration to be had, the driver gets the program's own function. Thread safety: any thread; no lock. Cost: some
// ten nanoseconds and two records for each invocation.
#pragma once

#include <CL/cl.h>

#include <atomic>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tracer/lib/printf_callback.h"
#include "tracer/lib/recorder.h"
#include "tracer/lib/ring_writer.h"
#include "traces/api/callback_fn.h"
#include "traces/api/encode.h"
#include "traces/base/reentry.h"

namespace gt::tracer {

using api::CallbackFn;

struct Registration {
  std::atomic<uint64_t> id{0};  // 0: free
  void* function = nullptr;
  void* data = nullptr;
  void* print = nullptr;         // a context's second function, for what kernels print; it gets the same data
  cl_context context = nullptr;  // of one with such a function
};

// A free registration, filled in; nullptr: all are taken. Places are used again as late as possible, and keep their
// contents until then: a driver that calls a one-time callback twice still reaches the right function.
Registration* take_registration(void* function, void* data, void* print = nullptr);
// Once only for each id; later ones do nothing.
void free_registration(Registration& registration, uint64_t id);

// The program's function for what the kernels of a context print; nullptr: none. Cost: a search through all of them.
void* print_function_of(cl_context context);

namespace detail {

// What to call, read before anything else: a registration that is called once is free from here on.
struct Called {
  uint64_t id;
  void* function;
  void* data;
};
Called called(Registration& registration, CallbackFn kind);

// Makes the thread the program's for a while. Left by a jump or an exception it stays the program's, which is where
// such a jump leads to.
class ProgramRuns {
 public:
  ProgramRuns() : before_(t_flags) { t_flags = {}; }
  ~ProgramRuns() { t_flags = before_; }
  ProgramRuns(const ProgramRuns&) = delete;
  ProgramRuns& operator=(const ProgramRuns&) = delete;

 private:
  ThreadFlags before_;
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

// The parameter of F that is a function of the program; -1: none.
template <api::FnId F>
constexpr int callback_param() {
  return []<size_t... I>(std::index_sequence<I...>) {
    int found = -1;
    ((found = std::is_same_v<api::ParamRole<F, I>, api::role::Callback> ? static_cast<int>(I) : found), ...);
    return found;
  }
  (std::make_index_sequence<api::ParamCount<F>>{});
}

// By the type of the function; only two kinds share one.
template <api::FnId F>
constexpr CallbackFn callback_kind() {
  using T = api::ParamType<F, static_cast<size_t>(callback_param<F>())>;
  if constexpr (F == api::FnId::clSetProgramReleaseCallback) {
    return CallbackFn::ProgramRelease;
  } else if constexpr (std::is_same_v<T, void(CL_CALLBACK*)(cl_program, void*)>) {
    return CallbackFn::Program;
  } else if constexpr (std::is_same_v<T, void(CL_CALLBACK*)(cl_event, cl_int, void*)>) {
    return CallbackFn::Event;
  } else if constexpr (std::is_same_v<T, void(CL_CALLBACK*)(cl_mem, void*)>) {
    return CallbackFn::MemObjectDestructor;
  } else if constexpr (std::is_same_v<T, void(CL_CALLBACK*)(cl_context, void*)>) {
    return CallbackFn::ContextDestructor;
  } else if constexpr (std::is_same_v<T, void(CL_CALLBACK*)(cl_command_queue, cl_uint, void**, void*)>) {
    return CallbackFn::SvmFree;
  } else if constexpr (std::is_same_v<T, void(CL_CALLBACK*)(void*)>) {
    return CallbackFn::NativeKernel;
  } else {
    static_assert(std::is_same_v<T, void(CL_CALLBACK*)(const char*, const void*, size_t, void*)>);
    return CallbackFn::Context;
  }
}

}  // namespace detail

// Stands between the arguments of a registering call and the driver, for the time of that call.
class Registering {
 public:
  Registering() = default;
  Registering(const Registering&) = delete;
  Registering& operator=(const Registering&) = delete;
  ~Registering() { discard_block(); }

  // Puts our function and data in the place of the program's. REQUIRES: the Enter record is written.
  template <api::FnId F, class... A>
  void replace(Ring& ring, std::tuple<A...>& call) {
    constexpr auto P = static_cast<size_t>(detail::callback_param<F>());
    constexpr CallbackFn K = detail::callback_kind<F>();
    auto& function = std::get<P>(call);
    void* print = nullptr;
    if constexpr (K == CallbackFn::Context) print = print_.find(std::get<0>(call));
    if (!function && !print) return;
    if constexpr (K == CallbackFn::NativeKernel) {
      if (!wrap_arguments(reinterpret_cast<void*>(function), std::get<P + 1>(call), std::get<P + 2>(call),
                          std::get<P + 3>(call), std::get<P + 5>(call)))
        return;
      function = &run_native_kernel;
    } else {
      static_assert(std::is_same_v<api::ParamRole<F, P + 1>, api::role::UserData>);
      registration_ = take_registration(reinterpret_cast<void*>(function), std::get<P + 1>(call), print);
      if (!registration_) return;
      if constexpr (K == CallbackFn::Context) {
        if (print) std::get<0>(call) = print_.list();
      }
      function = detail::trampoline_for<K>(function);
      std::get<P + 1>(call) = registration_;
    }
    announce(ring, K);
  }

  // What a registering call made.
  void made(cl_context context) {
    if (registration_) registration_->context = context;
  }
  // The driver refused the call: nothing of it will be called. (A build that fails may have been reported all the same,
  // or may still be: its registration stays.)
  void refused();

 private:
  static void CL_CALLBACK run_native_kernel(void* block);
  bool wrap_arguments(void* function, void*& args, size_t& size, cl_uint handles, const void**& places);
  void discard_block();
  void announce(Ring& ring, CallbackFn kind);

  Registration* registration_ = nullptr;
  PrintfCallback print_;
  uint64_t id_ = 0;
  CallbackFn kind_ = CallbackFn::Context;
  // What the driver copies in place of a native kernel's arguments, and the places of handles in it.
  static constexpr size_t Small = 2048;
  alignas(128) uint8_t small_[Small];
  void* block_ = nullptr;
  size_t mapped_ = 0;  // bytes, when it did not fit into small_
};

}  // namespace gt::tracer
