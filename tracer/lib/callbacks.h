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

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tracer/lib/bare_kernels.h"
#include "tracer/lib/printf_callback.h"
#include "tracer/lib/recorder.h"
#include "tracer/lib/registration.h"
#include "tracer/lib/trampoline.h"
#include "traces/api/callback_fn.h"
#include "traces/api/encode.h"

namespace gt::tracer {

namespace detail {

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
      function = native_kernel(function, std::get<P + 1>(call), std::get<P + 2>(call), std::get<P + 3>(call),
                               std::get<P + 5>(call));
      if (!registration_) return;
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
  NativeFn native_kernel(NativeFn function, void*& args, size_t& size, cl_uint handles, const void**& places);
  bool wrap_arguments(NativeFn function, void*& args, size_t& size, cl_uint handles, const void**& places);
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
