#include "optimizer-rt/client/memory/mem.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <utility>

#include "optimizer-rt/client/base/answers.h"
#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/base/info.h"
#include "optimizer-rt/client/base/live_objects.h"
#include "optimizer-rt/client/base/serial_thread.h"
#include "optimizer-rt/client/memory/image_desc.h"
#include "optimizer-rt/client/objects/device_address.h"
#include "optimizer-rt/client/objects/habits.h"

using namespace gt;        // NOLINT: this file is about one of their types
using namespace gt::virt;  // NOLINT

namespace gt::virt {
namespace {

constexpr cl_mem_flags KernelAccess = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
constexpr cl_mem_flags HostAccess = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
constexpr cl_mem_flags HostPointer = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;

bool at_most_one(cl_mem_flags bits) { return (bits & (bits - 1)) == 0; }

LiveObjects<_cl_mem>& live() {
  static auto* const mems = new LiveObjects<_cl_mem>;
  return *mems;
}

// The program itself lets go of a memory object: what ends with that calls it back at once, as drivers do.
thread_local bool t_releasing = false;

uint64_t next_serial() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

// An image as the sub-context's driver is to make it: densely packed, its buffer by name.
cl_image_desc native_desc(const _cl_mem& image, SubContext& sub_context) {
  cl_image_desc d = image.desc;
  if (!image.parent) d.image_row_pitch = 0;
  d.image_slice_pitch = 0;
  d.mem_object = image.parent ? as<cl_mem>(image.parent->at(sub_context)) : nullptr;
  return d;
}

}  // namespace

void check_mem_flags(cl_mem_flags flags, const void* host_ptr) {
  require((flags & ~(KernelAccess | HostAccess | HostPointer)) == 0, CL_INVALID_VALUE);
  require(at_most_one(flags & KernelAccess) && at_most_one(flags & HostAccess), CL_INVALID_VALUE);
  const bool uses = flags & CL_MEM_USE_HOST_PTR;
  require(!uses || !(flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)), CL_INVALID_VALUE);
  const bool wants = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
  require(wants == (host_ptr != nullptr), CL_INVALID_HOST_PTR);
}

bool host_reads(cl_mem_flags flags) { return !(flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)); }
bool host_writes(cl_mem_flags flags) { return !(flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)); }

cl_mem_flags inherited_flags(cl_mem_flags flags, cl_mem_flags parent) {
  if (!(flags & KernelAccess)) flags |= parent & KernelAccess;
  if (!(flags & HostAccess)) flags |= parent & HostAccess;
  return flags | (parent & HostPointer);
}

Ref<_cl_mem> live_mem(const void* handle) { return live().find(handle); }

}  // namespace gt::virt

_cl_mem::_cl_mem(_cl_context& c, cl_mem_object_type t, cl_mem_flags f, size_t s)
    : Object(Kind),
      context(&c),
      type(t),
      flags(f),
      size(s),
      serial(next_serial()),
      residency(c.sub_contexts.size()),
      names_(c) {
  live().add(this);
}

_cl_mem::~_cl_mem() {
  live().remove(this);
  names_.each(*context, [](Session& session, ObjectId name) {
    session.call<api::FnId::clReleaseMemObject>({}, as<cl_mem>(name));
  });
  if (farewells.empty()) return;
  if (t_releasing)
    say(farewells);
  else
    callbacks().post([list = std::move(farewells)] { say(list); });
}

ObjectId _cl_mem::at(SubContext& sub_context) {
  if (parent) parent->at(sub_context);
  return names_.at(sub_context, [&] { return send_native(sub_context); });
}

cl_mem_flags _cl_mem::told_flags() {
  cl_mem_flags told = given_flags;
  if (parent) told = inherited_flags(told, parent->told_flags());
  if (is_image()) told &= parent ? ~cl_mem_flags{CL_MEM_COPY_HOST_PTR} : ~cl_mem_flags{0};
  SubContext& sub_context = context->living_sub_context();
  if (parent || told & KernelAccess || !sub_context.session.alive()) return told;
  return Habits(sub_context).adds_access(told, is_image()) ? told | CL_MEM_READ_WRITE : told;
}

void _cl_mem::rename(SubContext& sub_context, ObjectId name) {
  if (const ObjectId before = names_.replace(sub_context, name))
    sub_context.session.call<api::FnId::clReleaseMemObject>({}, as<cl_mem>(before));
  ++context->renamed;
}

void _cl_mem::renew(SubContext& sub_context) { rename(sub_context, send_native(sub_context)); }

// `say` hands the call to the executor. Without what concerns the host: that is done on this side.
template <class Say>
ObjectId _cl_mem::make_native(SubContext& sub_context, Say say) {
  using api::Contents, api::FnId;
  const ObjectId name = sub_context.session.new_id();
  const cl_mem_flags with = svm ? CL_MEM_USE_HOST_PTR : initial ? CL_MEM_COPY_HOST_PTR : 0;
  const cl_mem_flags native = (flags & KernelAccess) | with;
  void* const contents = const_cast<void*>(initial);
  const auto context_there = as<cl_context>(sub_context.name);
  if (is_image()) {
    const cl_image_desc plain = native_desc(*this, sub_context);
    say.template operator()<FnId::clCreateImage, Contents::Full>(name, context_there, native, &format, &plain,
                                                                 contents);
  } else if (parent) {
    const cl_buffer_region region{origin, size};
    say.template operator()<FnId::clCreateSubBuffer, Contents::Full>(
        name, as<cl_mem>(parent->at(sub_context)), native, cl_buffer_create_type{CL_BUFFER_CREATE_TYPE_REGION},
        static_cast<const void*>(&region));
  } else if (svm) {  // known there by its address
    say.template operator()<FnId::clCreateBuffer, Contents::None>(name, context_there, native, size, host_ptr);
  } else if (properties.size() > 1) {  // it has an address
    say.template operator()<FnId::clCreateBufferWithProperties, Contents::Full>(name, context_there, properties.data(),
                                                                                native, size, contents);
  } else {
    say.template operator()<FnId::clCreateBuffer, Contents::Full>(name, context_there, native, size, contents);
  }
  return name;
}

ObjectId _cl_mem::send_native(SubContext& sub_context) {
  cl_int errcode = 0;
  return make_native(sub_context, [&]<api::FnId F, api::Contents C>(ObjectId name, const auto&... arguments) {
    sub_context.session.call<F, C>({name}, arguments..., &errcode);
  });
}

void _cl_mem::require_native() {
  cl_int first = CL_SUCCESS, errcode = 0;
  for (const auto& sub_context : context->sub_contexts) {
    if (!sub_context->session.alive()) continue;
    cl_int code = CL_SUCCESS;
    const ObjectId made =
        make_native(*sub_context, [&]<api::FnId F, api::Contents C>(ObjectId name, const auto&... args) {
          code = creation_code(F, sub_context->session.ask<F, C>({name}, args..., &errcode));
        });
    if (code == CL_SUCCESS) return void(names_.replace(*sub_context, made));
    if (first == CL_SUCCESS) first = code;
  }
  require_success(first);
}

copy::Region _cl_mem::whole() const {
  if (!is_image()) return copy::range(0, size);
  return {.shape = copy::Region::Shape::Image, .region = image_region(desc)};
}

size_t _cl_mem::row_pitch() const { return desc.image_row_pitch; }
size_t _cl_mem::slice_pitch() const { return desc.image_slice_pitch; }

uint8_t* _cl_mem::shadow() {
  if (host_ptr) return static_cast<uint8_t*>(host_ptr);
  if (parent) {
    uint8_t* const all = parent->shadow();
    return all + origin;
  }
  const MutexLock lock(mutex);
  if (!shadow_) shadow_ = Shadow::make(*context, size);
  require(shadow_ != nullptr, CL_MAP_FAILURE);
  return shadow_->data();
}

namespace gt::virt::fn {

cl_int clRetainMemObject(cl_mem mem) { return retain(mem); }
cl_int clReleaseMemObject(cl_mem mem) {
  struct Releasing {
    const bool before = std::exchange(t_releasing, true);
    ~Releasing() { t_releasing = before; }
  } releasing;
  return release(mem);
}

cl_int clSetMemObjectDestructorCallback(cl_mem mem, void(CL_CALLBACK* notify)(cl_mem, void*), void* data) {
  check(mem);
  require(notify, CL_INVALID_VALUE);
  const MutexLock lock(mem->mutex);
  mem->farewells.push_back([mem, notify, data] { notify(mem, data); });
  return CL_SUCCESS;
}

namespace {

// One for each device. The driver says, also that it has none.
Bytes addresses_of(_cl_mem& mem) {
  require(has_addresses(*mem.context), CL_INVALID_VALUE);
  SubContext& sub_context = *mem.context->sub_contexts[0];
  size_t size = 0;
  int wanted = 0;
  const Bytes outputs = sub_context.session.ask<api::FnId::clGetMemObjectInfo>(
      {}, as<cl_mem>(mem.at(sub_context)), AddressInfo, LargestInfo, static_cast<void*>(&wanted), &size);
  InfoAnswer answer = info_of(api::FnId::clGetMemObjectInfo, outputs);
  require_success(answer.code);
  return std::move(answer.value);
}

}  // namespace

cl_int clGetMemObjectInfo(cl_mem mem, cl_mem_info name, size_t room, void* value, size_t* size_ret) {
  check(mem);
  const Answer answer(room, value, size_ret);
  switch (name) {
    case CL_MEM_TYPE:
      return answer.value(mem->type);
    case CL_MEM_FLAGS:
      return answer.value(mem->told_flags());
    case CL_MEM_SIZE:
      return answer.value(mem->size);
    case CL_MEM_HOST_PTR:
      return answer.value(mem->flags & CL_MEM_USE_HOST_PTR ? mem->host_ptr : nullptr);
    case CL_MEM_MAP_COUNT: {
      const MutexLock lock(mem->mutex);
      return answer.value(static_cast<cl_uint>(mem->maps.size()));
    }
    case CL_MEM_REFERENCE_COUNT:
      return answer.value<cl_uint>(mem->references);
    case CL_MEM_CONTEXT:
      return answer.value(mem->context.get());
    case CL_MEM_ASSOCIATED_MEMOBJECT:
      return answer.value(mem->parent.get());
    case CL_MEM_OFFSET:
      return answer.value(mem->is_image() ? size_t{0} : mem->origin);
    case CL_MEM_USES_SVM_POINTER:
      return answer.value<cl_bool>(mem->root().svm ? CL_TRUE : CL_FALSE);
    case CL_MEM_PROPERTIES:
      return answer.list(mem->properties);
    case AddressInfo:
      return answer.bytes(addresses_of(*mem));
    default:
      return CL_INVALID_VALUE;
  }
}

// No device of ours has pipes.
cl_int clGetPipeInfo(cl_mem, cl_pipe_info, size_t, void*, size_t*) { return CL_INVALID_MEM_OBJECT; }

}  // namespace gt::virt::fn
