#include "tracer/lib/later_wrappers.h"

#include <utility>

#include "tracer/lib/extension_closure.h"
#include "tracer/lib/traced.h"
#include "traces/api/later_forms.h"

namespace gt::tracer {

namespace {

using api::FnId;

// What the wrapper under way on this thread was given beyond what is recorded.
struct Beyond {
  void* function;
  const cl_properties* properties;
};
__thread Beyond t_beyond __attribute__((tls_model("initial-exec"))) = {};

// The driver's function of the call under way; what traced() calls in its place is `forward`.
void* take_function(FnId fn, void* forward) {
  void* const function = std::exchange(t_closure_target, forward);
  return function ? function : real_pointer(fn);
}

template <FnId F, class Function = api::FnPointer<F>>
struct LaterWrapper;
template <FnId F, class Buffer, class... A>
struct LaterWrapper<F, cl_int (*)(Buffer, cl_command_queue, A...)> {
  static cl_int forward(Buffer buffer, cl_command_queue queue, A... arguments) {
    const Beyond beyond = t_beyond;
    const auto function = reinterpret_cast<typename api::Later<api::FnPointer<F>>::Pointer>(beyond.function);
    return function(buffer, queue, beyond.properties, arguments...);
  }
  static cl_int CL_API_CALL call(Buffer buffer, cl_command_queue queue, const cl_properties* properties,
                                 A... arguments) {
    t_beyond = {take_function(F, reinterpret_cast<void*>(&forward)), properties};
    return traced<F, cl_int>(__builtin_return_address(0), __builtin_frame_address(0), buffer, queue, arguments...);
  }
};

// The table's form has one structure for all; record_update() knows this one by its address.
cl_int forward_update(_cl_command_buffer_khr* buffer, const _cl_mutable_base_config_khr* config) {
  const UpdateList list = *reinterpret_cast<const UpdateList*>(config);
  return reinterpret_cast<api::LaterUpdate>(t_beyond.function)(buffer, list.count, list.types, list.configs);
}
cl_int CL_API_CALL update(_cl_command_buffer_khr* buffer, cl_uint count, const cl_uint* types, const void** configs) {
  const UpdateList list{count, types, configs};
  t_beyond = {take_function(FnId::clUpdateMutableCommandsKHR, reinterpret_cast<void*>(&forward_update)), nullptr};
  t_update_list = &list;
  const cl_int code = traced<FnId::clUpdateMutableCommandsKHR, cl_int>(
      __builtin_return_address(0), __builtin_frame_address(0), buffer,
      reinterpret_cast<const _cl_mutable_base_config_khr*>(&list));
  t_update_list = nullptr;
  return code;
}

template <class R, class... A>
ExtensionWrapper wrapper(const char* name, FnId fn, R (*function)(A...)) {
  return {name, fn, reinterpret_cast<void*>(function), &signature<R, A...>};
}

const ExtensionWrapper g_wrappers[] = {
#define GT_LATER(NAME) wrapper(#NAME, FnId::NAME, &LaterWrapper<FnId::NAME>::call),
    GT_WITHOUT_PROPERTIES(GT_LATER)
#undef GT_LATER
        wrapper("clUpdateMutableCommandsKHR", FnId::clUpdateMutableCommandsKHR, &update),
};

}  // namespace

const ExtensionWrapper* find_later_wrapper(FnId fn) {
  for (const ExtensionWrapper& w : g_wrappers)
    if (w.fn == fn) return &w;
  return nullptr;
}

}  // namespace gt::tracer
