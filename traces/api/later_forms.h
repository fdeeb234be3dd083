// Functions of provisional extensions that have got other parameters since the table was made.
//
//   the table:      clCommandCopyBufferKHR(buffer, queue,             from, to, ...)
//   later drivers:  clCommandCopyBufferKHR(buffer, queue, properties, from, to, ...)
//
// Traces and links carry the form of the table, whatever the driver has. A driver's version of the extension says which
// form its functions have. No properties of these commands are defined.
// Thread safety: any thread.
#pragma once

#include <CL/cl.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "traces/api/table.h"

namespace gt::api {

constexpr const char* CommandBuffers = "cl_khr_command_buffer";
constexpr const char* MutableDispatch = "cl_khr_command_buffer_mutable_dispatch";
constexpr cl_version CommandsHaveProperties = CL_MAKE_VERSION(0, 9, 5);  // of CommandBuffers
constexpr cl_version UpdatesAreLists = CL_MAKE_VERSION(0, 9, 2);         // of MutableDispatch

// Of a device; 0: it does not have the extension, or tells no versions.
inline cl_version extension_version(FnPointer<FnId::clGetDeviceInfo> ask, cl_device_id device, const char* extension) {
  constexpr size_t Most = 1024;
  size_t bytes = 0;
  if (ask(device, CL_DEVICE_EXTENSIONS_WITH_VERSION, 0, nullptr, &bytes) != CL_SUCCESS) return 0;
  std::vector<cl_name_version> all(std::min(bytes / sizeof(cl_name_version), Most));
  const size_t room = all.size() * sizeof(cl_name_version);
  if (all.empty() || ask(device, CL_DEVICE_EXTENSIONS_WITH_VERSION, room, all.data(), nullptr) != CL_SUCCESS) return 0;
  for (const cl_name_version& one : all)
    if (std::strncmp(one.name, extension, sizeof one.name) == 0) return one.version;
  return 0;
}

// clCommandNDRangeKernelKHR has always had its properties; clCommandSVM...KHR have them in the table, too.
#define GT_WITHOUT_PROPERTIES(X)     \
  X(clCommandBarrierWithWaitListKHR) \
  X(clCommandCopyBufferKHR)          \
  X(clCommandCopyBufferRectKHR)      \
  X(clCommandCopyBufferToImageKHR)   \
  X(clCommandCopyImageKHR)           \
  X(clCommandCopyImageToBufferKHR)   \
  X(clCommandFillBufferKHR)          \
  X(clCommandFillImageKHR)

constexpr bool lacks_properties(FnId fn) {
  switch (fn) {
#define GT_CASE(NAME) case FnId::NAME:
    GT_WITHOUT_PROPERTIES(GT_CASE)
#undef GT_CASE
    return true;
    default:
      return false;
  }
}

// In the table with the properties that earlier drivers' do not take.
constexpr bool has_gained_properties(FnId fn) {
  return fn == FnId::clCommandSVMMemcpyKHR || fn == FnId::clCommandSVMMemFillKHR;
}

// The later form of a function that lacks properties.
template <class Function>
struct Later;
template <class Buffer, class... A>
struct Later<cl_int (*)(Buffer, cl_command_queue, A...)> {
  using Pointer = cl_int(CL_API_CALL*)(Buffer, cl_command_queue, const cl_properties*, A...);
};
// clUpdateMutableCommandsKHR
using LaterUpdate = cl_int(CL_API_CALL*)(_cl_command_buffer_khr*, cl_uint, const cl_uint* types, const void** configs);
constexpr cl_uint LaterDispatchConfig = 0;  // CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR of that form

// The table's form of a function whose driver wants properties: Behind(F) gives the driver's.
template <FnId F, auto Behind, class Function = FnPointer<F>>
struct WithoutProperties;
template <FnId F, auto Behind, class Buffer, class... A>
struct WithoutProperties<F, Behind, cl_int (*)(Buffer, cl_command_queue, A...)> {
  static cl_int call(Buffer buffer, cl_command_queue queue, A... arguments) {
    const auto function = reinterpret_cast<typename Later<FnPointer<F>>::Pointer>(Behind(F));
    return function(buffer, queue, nullptr, arguments...);
  }
};
// nullptr: `fn` has not changed.
template <auto Behind>
void (*without_properties(FnId fn))() {
  switch (fn) {
#define GT_CASE(NAME) \
  case FnId::NAME:    \
    return reinterpret_cast<void (*)()>(&WithoutProperties<FnId::NAME, Behind>::call);
    GT_WITHOUT_PROPERTIES(GT_CASE)
#undef GT_CASE
    default:
      return nullptr;
  }
}

}  // namespace gt::api
