// What programs ask of devices, and parts of devices.
#include <CL/cl_ext.h>

#include <algorithm>
#include <vector>

#include "optimizer-rt/client/base/answers.h"
#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/base/info.h"
#include "optimizer-rt/client/platform/device.h"
#include "optimizer-rt/client/platform/native_device.h"
#include "optimizer-rt/client/platform/platform.h"
#include "traces/api/properties.h"
#include "traces/base/clock.h"

namespace gt::virt::fn {
namespace {

// Bits that mean nothing select nothing, as with most drivers (Java's constant for all types is -1), unless all drivers
// here refuse them.
bool is_refused(const _cl_platform_id& platform, cl_device_type type) {
  constexpr cl_device_type Known = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU |
                                   CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM;
  const bool unknown = type != CL_DEVICE_TYPE_ALL && (type & ~Known) != 0;
  if (type != 0 && !unknown) return false;
  return !platform.natives.empty() && std::ranges::all_of(platform.natives, [&](const NativePlatform& native) {
    const wire::PlatformTypes& says = native.types;
    return (!unknown ? says.none : type & Known ? says.mixed : says.unknown) == CL_INVALID_DEVICE_TYPE;
  });
}

}  // namespace

cl_int clGetDeviceIDs(cl_platform_id of, cl_device_type type, cl_uint n, cl_device_id* devices, cl_uint* count) {
  check(of);
  require((n != 0 || !devices) && (devices || count), CL_INVALID_VALUE);
  require(!is_refused(*of, type), CL_INVALID_DEVICE_TYPE);
  std::vector<_cl_device_id*> found;
  for (_cl_device_id* d : of->devices) {
    const auto own = d->number<cl_device_type>(CL_DEVICE_TYPE);
    const bool any = type == CL_DEVICE_TYPE_ALL && !(own & CL_DEVICE_TYPE_CUSTOM);
    const bool first = (type & CL_DEVICE_TYPE_DEFAULT) && found.empty();
    if (any || first || (own & type & ~cl_device_type{CL_DEVICE_TYPE_DEFAULT})) found.push_back(d);
  }
  require(!found.empty(), CL_DEVICE_NOT_FOUND);
  if (count) *count = static_cast<cl_uint>(found.size());
  if (devices) std::copy_n(found.begin(), std::min<size_t>(n, found.size()), devices);
  return CL_SUCCESS;
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t room, void* value, size_t* size_ret) {
  check(device);
  const Answer answer(room, value, size_ret);
  switch (name) {
    case CL_DEVICE_PLATFORM:
      return answer.value<cl_platform_id>(connected_platform());
    case CL_DEVICE_PARENT_DEVICE:
      return answer.value<cl_device_id>(device->parent.get());
    case CL_DEVICE_REFERENCE_COUNT:
      return answer.value<cl_uint>(device->parent ? device->references.load() : 1);
    case CL_DEVICE_AVAILABLE:
      if (!device->session.in_reach()) return answer.value<cl_bool>(CL_FALSE);
      break;
    case CL_DEVICE_PARTITION_TYPE:
      if (device->parent) return answer.bytes(device->partition);
      break;
    default:
      break;
  }
  return answer.bytes(device->info(name));
}

cl_int clCreateSubDevices(cl_device_id in, const cl_device_partition_property* properties, cl_uint n,
                          cl_device_id* out, cl_uint* count) {
  check(in);
  require(properties && properties[0] != 0 && (out || count) && (n == 0) == (out == nullptr), CL_INVALID_VALUE);
  Session& session = in->session;
  const ObjectId first = session.new_id(std::max<cl_uint>(n, 1));
  std::vector<cl_device_id> room(n);
  cl_uint made = 0;
  const Bytes outputs = session.ask<api::FnId::clCreateSubDevices>({first}, as<cl_device_id>(in->name), properties, n,
                                                                   n ? room.data() : nullptr, &made);
  const CallAnswer answer = answer_of(api::FnId::clCreateSubDevices, outputs);
  require(answer.code == CL_SUCCESS, answer.code);
  const auto total = static_cast<cl_uint>(answer.number(4));
  if (count) *count = total;
  const size_t words = api::property_words(properties);
  require(words < api::MaxPropertyWords, CL_INVALID_VALUE);
  std::vector<cl_device_partition_property> partition(properties, properties + words);
  partition.push_back(0);
  for (cl_uint i = 0; i < std::min(n, total); ++i) {
    Ref<_cl_device_id> sub = make<_cl_device_id>(session, first + i, in->native_platform);
    sub->parent = Ref<_cl_device_id>(in);
    const auto* bytes = reinterpret_cast<const uint8_t*>(partition.data());
    sub->partition.assign(bytes, bytes + partition.size() * sizeof partition[0]);
    wire::Surveyed surveyed = session.discover(sub->name);
    for (wire::SurveyedDevice& told : surveyed.devices) {
      if (_cl_platform_id* const platform = connected_platform()) platform->forms.settle(told.infos);
      for (const wire::InfoValue& info : told.infos) sub->learn(info.name, info.value);
    }
    out[i] = sub.give();
  }
  return CL_SUCCESS;
}

// Root devices are not counted.
cl_int clRetainDevice(cl_device_id device) { return check(device).parent ? retain(device) : CL_SUCCESS; }
cl_int clReleaseDevice(cl_device_id device) { return check(device).parent ? release(device) : CL_SUCCESS; }

// One clock for both: times of events are told in the host's. Drivers of which the platform has no timers say so.
cl_int clGetDeviceAndHostTimer(cl_device_id device, cl_ulong* device_ns, cl_ulong* host_ns) {
  check(device);
  require(device_ns && host_ns, CL_INVALID_VALUE);
  require(device->has_timers(), CL_INVALID_OPERATION);
  *device_ns = *host_ns = monotonic_ns();
  return CL_SUCCESS;
}
cl_int clGetHostTimer(cl_device_id device, cl_ulong* host_ns) {
  check(device);
  require(host_ns, CL_INVALID_VALUE);
  require(device->has_timers(), CL_INVALID_OPERATION);
  *host_ns = monotonic_ns();
  return CL_SUCCESS;
}

cl_int clSetDefaultDeviceCommandQueue(cl_context, cl_device_id device, cl_command_queue) {
  device_of(device);
  return CL_INVALID_OPERATION;
}

}  // namespace gt::virt::fn
