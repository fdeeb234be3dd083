#include "optimizer-rt/client/objects/context.h"

#include <algorithm>
#include <array>

#include "optimizer-rt/client/base/configuration.h"
#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/base/info.h"
#include "optimizer-rt/client/platform/native_device.h"
#include "optimizer-rt/client/platform/platform.h"
#include "optimizer-rt/client/session/peering.h"

using namespace gt;        // NOLINT: this file is about one of their types
using namespace gt::virt;  // NOLINT

namespace gt::virt {

namespace {

void make_native(SubContext& sub_context) {
  std::vector<ObjectId> devices;
  for (const _cl_device_id* d : sub_context.devices) devices.push_back(d->name);
  const std::array<cl_context_properties, 3> properties{CL_CONTEXT_PLATFORM,
                                                        static_cast<cl_context_properties>(sub_context.platform), 0};
  cl_int errcode = 0;
  sub_context.session.call<api::FnId::clCreateContext>(
      {sub_context.name}, properties.data(), static_cast<cl_uint>(devices.size()),
      reinterpret_cast<const cl_device_id*>(devices.data()),
      static_cast<void(CL_CALLBACK*)(const char*, const void*, size_t, void*)>(nullptr), static_cast<void*>(nullptr),
      &errcode);
}

}  // namespace

std::vector<_cl_device_id*> devices_in(const _cl_context& context, cl_uint n, const cl_device_id* list) {
  std::vector<_cl_device_id*> devices;
  for (cl_uint i = 0; i < n; ++i) {
    devices.push_back(&device_of(list[i]));
    require(context.has(devices.back()), CL_INVALID_DEVICE);
  }
  return devices;
}

}  // namespace gt::virt

// Parts of a device share its memory.
static bool are_apart(const std::vector<_cl_device_id*>& list) {
  return spreads() && std::none_of(list.begin(), list.end(), [](const _cl_device_id* d) { return d->parent; });
}

_cl_context::_cl_context(const std::vector<_cl_device_id*>& list, std::vector<cl_context_properties> props)
    : Object(Kind), properties(std::move(props)) {
  const bool apart = are_apart(list);
  for (_cl_device_id* d : list) {
    if (has(d)) continue;
    devices.emplace_back(d);
    const auto same = [d, apart](const auto& p) {
      return !apart && &p->session == &d->session && p->platform == d->native_platform;
    };
    auto it = std::find_if(sub_contexts.begin(), sub_contexts.end(), same);
    if (it == sub_contexts.end())
      it = sub_contexts.insert(it, std::make_unique<SubContext>(*this, *d, sub_contexts.size()));
    (*it)->devices.push_back(d);
  }
  for (const auto& sub_context : sub_contexts) make_native(*sub_context);
  for (size_t i = 0; i < sub_contexts.size(); ++i)
    for (size_t j = 0; j < i; ++j) begin_peering(sub_contexts[i]->session, sub_contexts[j]->session);
}

_cl_context::~_cl_context() {
  svm.give_all_back();
  usm.give_all_back();
  for (const auto& sub_context : sub_contexts) {
    if (!sub_context->session.alive()) continue;
    try {
      if (const ObjectId buffer = sub_context->scratch_made())
        sub_context->session.call<api::FnId::clReleaseMemObject>({}, as<cl_mem>(buffer));
      for (const ObjectId queue : sub_context->queues_made()) {
        if (queue != 0) sub_context->session.call<api::FnId::clReleaseCommandQueue>({}, as<cl_command_queue>(queue));
      }
      sub_context->session.call<api::FnId::clReleaseContext>({}, as<cl_context>(sub_context->name));
    } catch (const Failure&) {  // nothing is left to release
    }
  }
  say(farewells);
}

bool _cl_context::has(_cl_device_id* device) const {
  return std::any_of(devices.begin(), devices.end(), [device](const auto& d) { return d.get() == device; });
}

bool _cl_context::has_svm() const {
  const auto able = [](const auto& d) { return gt::virt::has_svm(*d); };
  return one_sub_context() && std::any_of(devices.begin(), devices.end(), able);
}

bool _cl_context::has_usm() const {
  return std::any_of(devices.begin(), devices.end(), [](const auto& d) { return gt::virt::has_usm(*d); });
}

SubContext& _cl_context::living_sub_context() {
  const auto it =
      std::find_if(sub_contexts.begin(), sub_contexts.end(), [](const auto& p) { return p->session.alive(); });
  return it == sub_contexts.end() ? *sub_contexts[0] : **it;
}

SubContext& _cl_context::sub_context_of(_cl_device_id* device) {
  for (const auto& sub_context : sub_contexts) {
    if (std::find(sub_context->devices.begin(), sub_context->devices.end(), device) != sub_context->devices.end())
      return *sub_context;
  }
  throw Failure{CL_INVALID_DEVICE};
}

namespace gt::virt::fn {
namespace {

// With its final 0; empty for NULL.
std::vector<cl_context_properties> checked_properties(const cl_context_properties* list) {
  std::vector<cl_context_properties> kept;
  if (!list) return kept;
  bool platform_given = false;
  for (; *list != 0; list += 2) {
    require(*list == CL_CONTEXT_PLATFORM || *list == CL_CONTEXT_INTEROP_USER_SYNC, CL_INVALID_PROPERTY);
    if (*list == CL_CONTEXT_PLATFORM) {
      require(!platform_given, CL_INVALID_PROPERTY);
      platform_given = true;
      require(is_platform(reinterpret_cast<cl_platform_id>(list[1])), CL_INVALID_PLATFORM);
    } else {
      require(list[1] == CL_FALSE || list[1] == CL_TRUE, CL_INVALID_PROPERTY);
    }
    kept.insert(kept.end(), {list[0], list[1]});
  }
  kept.push_back(0);
  return kept;
}

}  // namespace

using Notify = void(CL_CALLBACK*)(const char*, const void*, size_t, void*);

cl_context clCreateContext(const cl_context_properties* properties, cl_uint n, const cl_device_id* devices,
                           Notify notify, void* data, cl_int* errcode) {
  require(n != 0 && devices && (notify || !data), CL_INVALID_VALUE);
  std::vector<_cl_device_id*> list;
  for (cl_uint i = 0; i < n; ++i) {
    list.push_back(&adopt(devices[i]));
    require(list.back()->session.alive(), CL_DEVICE_NOT_AVAILABLE);
  }
  std::vector<cl_context_properties> kept = checked_properties(properties);
  Ref<_cl_context> context = make<_cl_context>(list, std::move(kept));
  if (errcode) *errcode = CL_SUCCESS;
  return context.give();
}

cl_context clCreateContextFromType(const cl_context_properties* properties, cl_device_type type, Notify notify,
                                   void* data, cl_int* errcode) {
  require(notify || !data, CL_INVALID_VALUE);
  checked_properties(properties);
  require(platform() != nullptr, CL_INVALID_PLATFORM);
  cl_uint n = 0;
  const cl_int code = fn::clGetDeviceIDs(platform(), type, 0, nullptr, &n);
  require(code == CL_SUCCESS, code);
  std::vector<cl_device_id> devices(n);
  fn::clGetDeviceIDs(platform(), type, n, devices.data(), nullptr);
  return fn::clCreateContext(properties, n, devices.data(), notify, data, errcode);
}

cl_int clRetainContext(cl_context context) { return retain(context); }
cl_int clReleaseContext(cl_context context) {
  return release(context, [](_cl_context& last) {
    last.svm.forget_ended();
    last.usm.forget_ended();
  });
}

cl_int clGetContextInfo(cl_context context, cl_context_info name, size_t room, void* value, size_t* size_ret) {
  check(context);
  const Answer answer(room, value, size_ret);
  switch (name) {
    case CL_CONTEXT_REFERENCE_COUNT:
      return answer.value<cl_uint>(context->references);
    case CL_CONTEXT_NUM_DEVICES:
      return answer.value(static_cast<cl_uint>(context->devices.size()));
    case CL_CONTEXT_DEVICES: {
      std::vector<cl_device_id> list;
      for (const auto& d : context->devices) list.push_back(d->handle());
      return answer.list(list);
    }
    case CL_CONTEXT_PROPERTIES:
      return answer.list(context->properties);
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int clSetContextDestructorCallback(cl_context context, void(CL_CALLBACK* notify)(cl_context, void*), void* data) {
  check(context);
  require(notify, CL_INVALID_VALUE);
  const MutexLock lock(context->mutex);
  context->farewells.push_back([context, notify, data] { notify(context, data); });
  return CL_SUCCESS;
}

}  // namespace gt::virt::fn
