#include "optimizer-rt/client/later_forms.h"

#include "optimizer-rt/client/base/entry.h"
#include "optimizer-rt/client/calls/command_updates.h"
#include "traces/api/later_forms.h"

namespace gt::virt {
namespace {

using api::FnId;

// Properties behind the queue; there are none for these commands.
template <FnId F, auto Function>
struct WithProperties;
template <FnId F, class Buffer, class... A, cl_int (*Function)(Buffer, cl_command_queue, A...)>
struct WithProperties<F, Function> {
  static cl_int CL_API_CALL call(Buffer buffer, cl_command_queue queue, const cl_properties* properties,
                                 A... arguments) {
    if (properties && *properties != 0) return CL_INVALID_VALUE;
    return Entry<F, Function>::call(buffer, queue, arguments...);
  }
};

cl_int update(cl_command_buffer_khr buffer, cl_uint n, const cl_uint* types, const void** configs) {
  check(buffer);
  require((n == 0) == !types && (n == 0) == !configs, CL_INVALID_VALUE);
  std::vector<DispatchChange> changes;
  for (cl_uint i = 0; i < n; ++i) {
    require(types[i] == api::LaterDispatchConfig && configs[i], CL_INVALID_VALUE);
    changes.push_back(*static_cast<const DispatchChange*>(configs[i]));
  }
  return update_commands(buffer, changes);
}

cl_int CL_API_CALL update_entry(cl_command_buffer_khr buffer, cl_uint n, const cl_uint* types, const void** configs) {
  const Unwatched unwatched;
  try {
    return update(buffer, n, types, configs);
  } catch (const Failure& failure) {
    return failure.code;
  } catch (const std::bad_alloc&) {
    return CL_OUT_OF_HOST_MEMORY;
  }
}

}  // namespace

void* later_form(FnId function) {
  switch (function) {
#define GT_LATER(NAME) \
  case FnId::NAME:     \
    return reinterpret_cast<void*>(&WithProperties<FnId::NAME, &fn::NAME>::call);
    GT_WITHOUT_PROPERTIES(GT_LATER)
#undef GT_LATER
    case FnId::clUpdateMutableCommandsKHR:
      return reinterpret_cast<void*>(&update_entry);
    default:
      return nullptr;
  }
}

}  // namespace gt::virt
