// The OpenCL table as types: Fn<FnId::clX> has the return type, the parameters and the attributes
// of clX.
//
// Generated code uses only types of the core headers, so the table compiles against older and newer
// OpenCL headers and knows the same functions everywhere.
#pragma once

#include <CL/cl.h>
#include <CL/cl_egl.h>
#include <CL/cl_gl.h>

#include <tuple>
#include <type_traits>
#include <utility>

#include "traces/api/callback_fn.h"
#include "traces/api/fn_id.h"
#include "traces/api/roles.h"

struct _cl_accelerator_intel;
struct _cl_command_buffer_khr;
struct _cl_mutable_base_config_khr;
struct _cl_mutable_command_khr;
struct _cl_semaphore_khr;

namespace gt::api {

constexpr uint16_t number(FnId f) { return static_cast<uint16_t>(f); }

// A parameter list ends with EndOfParams, because every generated line ends with a comma.
template <class... P>
struct ParamList {
  static constexpr size_t size = sizeof...(P) - 1;
  template <size_t I>
  using At = std::tuple_element_t<I, std::tuple<P...>>;
};

namespace role {

template <FnId F>
struct Fn;

#define GT_BEGIN(name, result, ...)        \
  template <>                              \
  struct Fn<FnId::name> {                  \
    static constexpr FnId id = FnId::name; \
    using Result = result;                 \
    using ResultRole = __VA_ARGS__;        \
    using Params = ParamList <
#define GT_PARAM(type, name, group, ...) Param<type, __VA_ARGS__>,
#define GT_END(name, ...)                                 \
  EndOfParams > ;                                         \
  static constexpr Attributes attributes = {__VA_ARGS__}; \
  }                                                       \
  ;
#include "traces/api/gen/api_table.inc"
#undef GT_BEGIN
#undef GT_END

#define GT_BEGIN(name, result, ...)                                \
  template <>                                                      \
  struct Fn<fn_id(CallbackFn::name)> {                             \
    static constexpr FnId id = fn_id(CallbackFn::name);            \
    using Result = result;                                         \
    using ResultRole = __VA_ARGS__;                                \
    using Params = ParamList <
#define GT_END(name)                       \
  EndOfParams > ;                          \
  static constexpr Attributes attributes{}; \
  }                                        \
  ;
#include "traces/api/callback_table.inc"
#undef GT_BEGIN
#undef GT_PARAM
#undef GT_END

}  // namespace role

using role::Fn;

template <FnId F, size_t I>
using ParamType = typename Fn<F>::Params::template At<I>::Type;
template <FnId F, size_t I>
using ParamRole = typename Fn<F>::Params::template At<I>::Role;
template <FnId F>
constexpr size_t ParamCount = Fn<F>::Params::size;

template <FnId F>
constexpr const Attributes& attributes_of() {
  return Fn<F>::attributes;
}

// The C function type of F, and a pointer to it.
template <FnId F, class Is = std::make_index_sequence<ParamCount<F>>>
struct Signature;
template <FnId F, size_t... I>
struct Signature<F, std::index_sequence<I...>> {
  using Pointer = typename Fn<F>::Result(CL_API_CALL*)(ParamType<F, I>...);
  using Arguments = std::tuple<ParamType<F, I>...>;
};
template <FnId F>
using FnPointer = typename Signature<F>::Pointer;
template <FnId F>
using Arguments = typename Signature<F>::Arguments;

// The answer of a call that fails with `code`, also through errcode_ret.
template <FnId F, class R, class... A>
R failed_result(cl_int code, A... args) noexcept {
  [&]<size_t... I>(std::index_sequence<I...>) {
    [[maybe_unused]] const auto tell = [code](auto param_role, auto arg) {
      if constexpr (std::is_same_v<decltype(param_role), role::ErrcodeRet>) {
        if (arg) *arg = code;
      }
      (void)code;
      (void)arg;
    };
    (tell(ParamRole<F, I>{}, args), ...);
  }
  (std::index_sequence_for<A...>{});
  if constexpr (std::is_same_v<R, cl_int>)
    return code;
  else if constexpr (!std::is_void_v<R>)
    return R{};
}

// What to answer when there is no driver to ask: for platforms, what a loader without drivers says.
template <FnId F, class R, class... A>
R missing_result(A... args) noexcept {
  constexpr cl_int NoPlatform = -1001;  // CL_PLATFORM_NOT_FOUND_KHR
  constexpr bool platforms = F == FnId::clGetPlatformIDs || F == FnId::clIcdGetPlatformIDsKHR;
  return failed_result<F, R>(platforms ? NoPlatform : CL_INVALID_OPERATION, args...);
}

}  // namespace gt::api
