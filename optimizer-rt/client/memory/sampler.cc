#include "optimizer-rt/client/memory/sampler.h"

#include <algorithm>

#include "optimizer-rt/client/base/answers.h"
#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/base/info.h"
#include "optimizer-rt/client/base/live_objects.h"

using namespace gt;        // NOLINT: this file is about one of their types
using namespace gt::virt;  // NOLINT

namespace gt::virt {
namespace {

LiveObjects<_cl_sampler>& live() {
  static auto* const samplers = new LiveObjects<_cl_sampler>;
  return *samplers;
}

}  // namespace

Ref<_cl_sampler> live_sampler(const void* handle) { return live().find(handle); }

}  // namespace gt::virt

_cl_sampler::_cl_sampler(_cl_context& c) : Object(Kind), context(&c), names_(c) { live().add(this); }

_cl_sampler::~_cl_sampler() {
  live().remove(this);
  names_.each(*context, [](Session& session, ObjectId name) {
    session.call<api::FnId::clReleaseSampler>({}, as<cl_sampler>(name));
  });
}

ObjectId _cl_sampler::at(SubContext& sub_context) {
  return names_.at(sub_context, [&] {
    const ObjectId name = sub_context.session.new_id();
    cl_int errcode = 0;
    sub_context.session.call<api::FnId::clCreateSampler>({name}, as<cl_context>(sub_context.name), normalized,
                                                         addressing, filter, &errcode);
    return name;
  });
}

void _cl_sampler::require_native() {
  SubContext& sub_context = context->living_sub_context();
  const ObjectId name = sub_context.session.new_id();
  cl_int errcode = 0;
  constexpr api::FnId Create = api::FnId::clCreateSampler;
  const Bytes made = sub_context.session.ask<Create>({name}, as<cl_context>(sub_context.name), normalized, addressing,
                                                     filter, &errcode);
  const cl_int code = creation_code(Create, made);
  require_success(code);
  names_.replace(sub_context, name);
}

namespace gt::virt::fn {
namespace {

Ref<_cl_sampler> create(cl_context context, cl_bool normalized, cl_addressing_mode addressing, cl_filter_mode filter) {
  check(context);
  require(normalized == CL_TRUE || normalized == CL_FALSE, CL_INVALID_VALUE);
  require(addressing >= CL_ADDRESS_NONE && addressing <= CL_ADDRESS_MIRRORED_REPEAT, CL_INVALID_VALUE);
  require(filter == CL_FILTER_NEAREST || filter == CL_FILTER_LINEAR, CL_INVALID_VALUE);
  const bool repeats = addressing == CL_ADDRESS_REPEAT || addressing == CL_ADDRESS_MIRRORED_REPEAT;
  const bool images = std::any_of(context->devices.begin(), context->devices.end(), [](const auto& d) {
    return d->template number<cl_bool>(CL_DEVICE_IMAGE_SUPPORT) != CL_FALSE;
  });
  require(images, CL_INVALID_OPERATION);
  Ref<_cl_sampler> sampler = make<_cl_sampler>(*context);
  sampler->normalized = normalized;
  sampler->addressing = addressing;
  sampler->filter = filter;
  if (repeats && normalized == CL_FALSE) sampler->require_native();  // some drivers take it
  return sampler;
}

}  // namespace

cl_sampler clCreateSampler(cl_context context, cl_bool normalized, cl_addressing_mode addressing, cl_filter_mode filter,
                           cl_int* errcode) {
  Ref<_cl_sampler> sampler = create(context, normalized, addressing, filter);
  if (errcode) *errcode = CL_SUCCESS;
  return sampler.give();
}

cl_sampler clCreateSamplerWithProperties(cl_context context, const cl_sampler_properties* list, cl_int* errcode) {
  check(context);
  cl_bool normalized = CL_TRUE;
  cl_addressing_mode addressing = CL_ADDRESS_CLAMP;
  cl_filter_mode filter = CL_FILTER_NEAREST;
  std::vector<cl_sampler_properties> kept;
  for (const cl_sampler_properties* p = list; p && *p != 0; p += 2) {
    for (size_t i = 0; i < kept.size(); i += 2) require(kept[i] != p[0], CL_INVALID_VALUE);
    switch (p[0]) {
      case CL_SAMPLER_NORMALIZED_COORDS:
        normalized = static_cast<cl_bool>(p[1]);
        break;
      case CL_SAMPLER_ADDRESSING_MODE:
        addressing = static_cast<cl_addressing_mode>(p[1]);
        break;
      case CL_SAMPLER_FILTER_MODE:
        filter = static_cast<cl_filter_mode>(p[1]);
        break;
      default:
        throw Failure{CL_INVALID_VALUE};
    }
    kept.insert(kept.end(), {p[0], p[1]});
  }
  Ref<_cl_sampler> sampler = create(context, normalized, addressing, filter);
  if (list) kept.push_back(0);
  sampler->list = std::move(kept);
  if (errcode) *errcode = CL_SUCCESS;
  return sampler.give();
}

cl_int clRetainSampler(cl_sampler sampler) { return retain(sampler); }
cl_int clReleaseSampler(cl_sampler sampler) { return release(sampler); }

cl_int clGetSamplerInfo(cl_sampler sampler, cl_sampler_info name, size_t room, void* value, size_t* size_ret) {
  check(sampler);
  const Answer answer(room, value, size_ret);
  switch (name) {
    case CL_SAMPLER_REFERENCE_COUNT:
      return answer.value<cl_uint>(sampler->references);
    case CL_SAMPLER_CONTEXT:
      return answer.value(sampler->context.get());
    case CL_SAMPLER_NORMALIZED_COORDS:
      return answer.value(sampler->normalized);
    case CL_SAMPLER_ADDRESSING_MODE:
      return answer.value(sampler->addressing);
    case CL_SAMPLER_FILTER_MODE:
      return answer.value(sampler->filter);
    case CL_SAMPLER_PROPERTIES:
      return answer.list(sampler->list);
    default:
      return CL_INVALID_VALUE;
  }
}

}  // namespace gt::virt::fn
