// Exports every OpenCL function: counted and told how to behave (behaviour.h), then the fake's own or
// CL_INVALID_OPERATION.
#include "tests/fake_cl/driver.h"

#include <cstdio>
#include <cstring>
#include <tuple>

#include "tests/fake_cl/behaviour.h"

namespace gt::fake {
namespace {

using api::FnId;

// A command that failed gives its event all the same.
template <class... A>
void leave_event(A... args) {
  [[maybe_unused]] const std::tuple<A...> all(args...);
  if constexpr (sizeof...(A) > 1) {
    using First = std::tuple_element_t<0, std::tuple<A...>>;
    using Last = std::tuple_element_t<sizeof...(A) - 1, std::tuple<A...>>;
    if constexpr (std::is_same_v<First, cl_command_queue> && std::is_same_v<Last, cl_event*>) {
      cl_event* const event = std::get<sizeof...(A) - 1>(all);
      if (event && std::get<0>(all)) *event = fake_clCreateUserEvent(std::get<0>(all)->context.get(), nullptr);
    }
  }
}
__attribute__((destructor)) void say_what_was_left() {
  if (behaviour().leaves_events) std::fprintf(stderr, "fake_cl: %d events left\n", _cl_event::alive.load());
}

template <FnId F, class R, class... A>
R run(const char* name, A... args) {
  const int error = begin_call(api::number(F), name);
  if (error != 0) {
    if (behaviour().leaves_events) leave_event(args...);
    return api::failed_result<F, R>(error, args...);
  }
  if constexpr (std::is_null_pointer_v<decltype(Implementation<F>::function)>) {
    return api::missing_result<F, R>(args...);
  } else {
    return Implementation<F>::function(args...);
  }
}

}  // namespace
}  // namespace gt::fake

#define GT_ARGS(...) __VA_OPT__(, ) __VA_ARGS__
#define GT_CL_EXPORT(NAME, RET, PARAMS, ARGS, SINCE)                              \
  extern "C" __attribute__((visibility("default"))) RET CL_API_CALL NAME PARAMS { \
    return gt::fake::run<gt::fake::FnId::NAME, RET>(#NAME GT_ARGS ARGS);          \
  }
#define GT_CL_EXTENSION(NAME, RET, PARAMS, ARGS, SINCE)                  \
  static RET CL_API_CALL extension_##NAME PARAMS {                       \
    return gt::fake::run<gt::fake::FnId::NAME, RET>(#NAME GT_ARGS ARGS); \
  }
#include "traces/api/gen/exports.inc"
#undef GT_CL_EXPORT
#undef GT_CL_EXTENSION

namespace gt::fake {
namespace {

template <class Table>
constexpr Table make_dispatch() {
  Table table{};
#define GT_CL_EXPORT(NAME, RET, PARAMS, ARGS, SINCE) \
  if constexpr (requires { table.NAME; }) table.NAME = &::NAME;
#define GT_CL_EXTENSION(NAME, RET, PARAMS, ARGS, SINCE)
#include "traces/api/gen/exports.inc"
#undef GT_CL_EXPORT
#undef GT_CL_EXTENSION
  return table;
}

}  // namespace

constinit const api::IcdDispatch dispatch_table = make_dispatch<api::IcdDispatch>();

// Every extension function of the table is there; most answer CL_INVALID_OPERATION.
void* fake_clGetExtensionFunctionAddress(const char* name) {
  if (!name) return nullptr;
  if (void* const later = behaviour().has_later_forms ? later_form(name) : nullptr) return later;
#define GT_CL_EXPORT(NAME, RET, PARAMS, ARGS, SINCE)
#define GT_CL_EXTENSION(NAME, RET, PARAMS, ARGS, SINCE) \
  if (std::strcmp(name, #NAME) == 0) return reinterpret_cast<void*>(&extension_##NAME);
#include "traces/api/gen/exports.inc"
#undef GT_CL_EXPORT
#undef GT_CL_EXTENSION
  return nullptr;
}
void* fake_clGetExtensionFunctionAddressForPlatform(cl_platform_id p, const char* name) {
  return p == platform() ? fake_clGetExtensionFunctionAddress(name) : nullptr;
}

_cl_platform_id* platform() {
  static _cl_platform_id* p = new _cl_platform_id;
  return p;
}
_cl_device_id* device(uint32_t number) {
  static auto* const devices = [] {
    auto* all = new _cl_device_id[MostDevices];
    for (uint32_t i = 0; i < MostDevices; ++i) all[i].number = static_cast<unsigned char>(i);
    return all;
  }();
  return &devices[number];
}
bool is_device(cl_device_id d) {
  for (uint32_t i = 0; i < behaviour().devices; ++i)
    if (d == device(i)) return true;
  return false;
}

AnyFunction exported(api::FnId fn) {
  switch (fn) {
#define GT_CL_EXPORT(NAME, RET, PARAMS, ARGS, SINCE) \
  case FnId::NAME:                                   \
    return reinterpret_cast<AnyFunction>(&::NAME);
#define GT_CL_EXTENSION(NAME, RET, PARAMS, ARGS, SINCE)
#include "traces/api/gen/exports.inc"
#undef GT_CL_EXPORT
#undef GT_CL_EXTENSION
    default:
      return nullptr;
  }
}

}  // namespace gt::fake
