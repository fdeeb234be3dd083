#include "optimizer-rt/client/platform/device_mask.h"

#include <CL/cl_ext.h>

#include <cstring>
#include <utility>

namespace gt::virt {
namespace {

// What a device may do with a kind of unified shared memory: elsewhere, not at the same time as the program.
Bytes only(Bytes native, cl_device_unified_shared_memory_capabilities_intel kept) {
  cl_device_unified_shared_memory_capabilities_intel value = 0;
  if (native.size() != sizeof value) return native;
  std::memcpy(&value, native.data(), sizeof value);
  value &= kept;
  std::memcpy(native.data(), &value, sizeof value);
  return native;
}

}  // namespace


Bytes masked_info(cl_device_info param, Bytes native, bool in_process) {
  constexpr cl_device_unified_shared_memory_capabilities_intel Taking =
      CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL | CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL;
  switch (param) {
    case CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL:
    case CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL:
    case CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL:
    case CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL:
      return in_process ? native : only(std::move(native), Taking);
    case CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL:
      return only(std::move(native), 0);  // memory of the program's that nobody told us of
    case CL_DEVICE_PIPE_SUPPORT:
    case CL_DEVICE_MAX_PIPE_ARGS:
    case CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS:
    case CL_DEVICE_PIPE_MAX_PACKET_SIZE:
    case CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES:
    case CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES:
    case CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE:
    case CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE:
    case CL_DEVICE_MAX_ON_DEVICE_QUEUES:
    case CL_DEVICE_MAX_ON_DEVICE_EVENTS:
      return Bytes(native.size(), 0);
    default:
      return native;
  }
}

}  // namespace gt::virt
