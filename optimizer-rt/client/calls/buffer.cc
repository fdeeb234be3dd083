// Making buffers and parts of buffers.
#include <algorithm>
#include <utility>
#include <vector>

#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/memory/mem.h"
#include "optimizer-rt/client/objects/device_address.h"
#include "optimizer-rt/client/transfer/first_contents.h"
#include "optimizer-rt/client/transfer/peer_mapped.h"

namespace gt::virt::fn {
namespace {

// As devices tell it; some drivers make larger ones.
bool is_promised(const _cl_context& context, size_t size) {
  return std::any_of(context.devices.begin(), context.devices.end(), [size](const auto& d) {
    return size <= d->template number<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE, ~cl_ulong{0});
  });
}

// With their final 0; empty for NULL.
std::vector<cl_mem_properties> checked(const _cl_context& context, const cl_mem_properties* list) {
  std::vector<cl_mem_properties> kept;
  if (!list) return kept;
  for (; *list != 0; list += 2) {
    require(*list == PrivateAddressProperty && kept.empty() && has_addresses(context), CL_INVALID_PROPERTY);
    require(list[1] == CL_FALSE || list[1] == CL_TRUE, CL_INVALID_PROPERTY);
    kept.assign(list, list + 2);
  }
  kept.push_back(0);
  return kept;
}

Ref<_cl_mem> create(cl_context context, std::vector<cl_mem_properties> properties, cl_mem_flags flags, size_t size,
                    void* host_ptr) {
  check(context);
  check_mem_flags(flags, host_ptr);
  require(size != 0, CL_INVALID_BUFFER_SIZE);
  const cl_mem_flags given = flags;
  if (!(flags & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY))) flags |= CL_MEM_READ_WRITE;
  Ref<_cl_mem> mem = make<_cl_mem>(*context, cl_mem_object_type{CL_MEM_OBJECT_BUFFER}, flags, size);
  mem->given_flags = given;
  mem->properties = std::move(properties);
  if (flags & CL_MEM_USE_HOST_PTR) {
    mem->host_ptr = host_ptr;
    mem->svm = context->svm.find_inside(host_ptr);
    require(!mem->svm || mem->svm->holds(host_ptr, size), CL_INVALID_BUFFER_SIZE);
  }
  if (!is_promised(*context, size)) mem->require_native();
  if (host_ptr && !mem->svm) fill_new(*mem, host_ptr, {0, size});
  if (context->one_sub_context()) mem->at(*context->sub_contexts[0]);
  return mem;
}

bool aligned(const _cl_context& context, size_t origin) {
  return std::any_of(context.devices.begin(), context.devices.end(), [origin](const auto& d) {
    const auto bits = d->template number<cl_uint>(CL_DEVICE_MEM_BASE_ADDR_ALIGN, 8);
    return origin % std::max<size_t>(bits / 8, 1) == 0;
  });
}

}  // namespace

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void* host_ptr, cl_int* errcode) {
  Ref<_cl_mem> mem = create(context, {}, flags, size, host_ptr);
  if (errcode) *errcode = CL_SUCCESS;
  return mem.give();
}

cl_mem clCreateBufferWithProperties(cl_context context, const cl_mem_properties* properties, cl_mem_flags flags,
                                    size_t size, void* host_ptr, cl_int* errcode) {
  check(context);
  Ref<_cl_mem> mem = create(context, checked(*context, properties), flags, size, host_ptr);
  if (errcode) *errcode = CL_SUCCESS;
  return mem.give();
}

cl_mem clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type, const void* info,
                         cl_int* errcode) {
  check(buffer);
  require(!buffer->is_image() && !buffer->parent, CL_INVALID_MEM_OBJECT);
  require(type == CL_BUFFER_CREATE_TYPE_REGION && info, CL_INVALID_VALUE);
  constexpr cl_mem_flags Access = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
  constexpr cl_mem_flags Host = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
  require((flags & ~(Access | Host)) == 0, CL_INVALID_VALUE);
  const cl_mem_flags wide = flags & Access, narrow = buffer->flags & Access;
  require(wide == 0 || wide == narrow || (narrow & CL_MEM_READ_WRITE), CL_INVALID_VALUE);
  const cl_mem_flags host = flags & Host, parent_host = buffer->flags & Host;
  require(host == 0 || host == CL_MEM_HOST_NO_ACCESS || parent_host == 0 || parent_host == host, CL_INVALID_VALUE);
  cl_buffer_region region;
  std::memcpy(&region, info, sizeof region);
  require(region.origin <= buffer->size && region.size <= buffer->size - region.origin, CL_INVALID_VALUE);
  require(region.size != 0, CL_INVALID_BUFFER_SIZE);
  Ref<_cl_mem> mem = make<_cl_mem>(*buffer->context, cl_mem_object_type{CL_MEM_OBJECT_BUFFER},
                                   inherited_flags(flags, buffer->flags), region.size);
  mem->given_flags = flags;
  make_part_of(*mem, buffer);
  mem->origin = region.origin;
  if (buffer->flags & CL_MEM_USE_HOST_PTR) {
    mem->host_ptr = static_cast<uint8_t*>(buffer->host_ptr) + region.origin;
  }
  if (!aligned(*buffer->context, region.origin)) mem->require_native();
  if (buffer->context->one_sub_context()) mem->at(*buffer->context->sub_contexts[0]);
  if (errcode) *errcode = CL_SUCCESS;
  return mem.give();
}

}  // namespace gt::virt::fn
