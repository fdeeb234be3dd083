// Maps and unmaps: the program sees the shadow; a map reads into it, an unmap writes back what was mapped for writing.
#include <algorithm>

#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/calls/command.h"
#include "optimizer-rt/client/calls/svm_commands.h"
#include "optimizer-rt/client/memory/image_desc.h"
#include "optimizer-rt/client/memory/regions.h"
#include "optimizer-rt/client/objects/habits.h"
#include "optimizer-rt/client/transfer/transfer.h"

namespace gt::virt::fn {
namespace {

constexpr cl_map_flags Writing = CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;

void check_flags(cl_map_flags flags, cl_mem_flags mem) {
  require((flags & ~(CL_MAP_READ | Writing)) == 0, CL_INVALID_VALUE);
  const bool invalidate = flags & CL_MAP_WRITE_INVALIDATE_REGION;
  require(!invalidate || !(flags & (CL_MAP_READ | CL_MAP_WRITE)), CL_INVALID_VALUE);
  require(!(flags & CL_MAP_READ) || host_reads(mem), CL_INVALID_OPERATION);
  require(!(flags & Writing) || host_writes(mem), CL_INVALID_OPERATION);
}

// Maps `part`, which lies in the shadow as `layout` says. Gives the address of its first byte.
void* map(Command& c, _cl_mem& mem, cl_bool blocking, cl_map_flags flags, const copy::Region& part,
          const copy::Layout& layout, cl_int* errcode) {
  if (blocking) c.block();
  c.want_event();
  const bool nothing = copy::packed_bytes(layout) == 0;
  if (nothing && !Habits(c.sub_context()).gives_pointer_to_nothing()) {
    order_only(c);
    const cl_int code = blocking ? c.sent_and_wait() : c.sent();
    if (errcode) *errcode = code;
    return nullptr;
  }
  uint8_t* const shadow = mem.shadow();
  void* const pointer = shadow + layout.offset;
  if (nothing) {
    order_only(c);
  } else if (mem.lies_in_svm()) {
    send_map(c, mem.root().svm, pointer, copy::packed_bytes(layout), flags, blocking);
  } else if (flags & CL_MAP_WRITE_INVALIDATE_REGION) {
    order_only(c);
  } else {
    c.reads(mem);
    const ObjectId name = c.name(mem);
    const Ids& waits = c.waits();
    if (!blocking) c.writes_host(shadow, layout.extent());
    send_read({c.sub_context(), c.queue().name, name, part, mem.element(), layout, waits}, shadow, c.want_event());
    c.want_event().then([held = Ref<_cl_mem>(&mem)](cl_int) {});  // the shadow is written until then
  }
  {
    const MutexLock lock(mem.mutex);
    mem.maps.push_back({pointer, flags, part, layout});
  }
  const cl_int code = blocking ? c.sent_and_wait() : c.sent();
  const bool says_more = code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST || code == CL_DEVICE_NOT_AVAILABLE;
  if (errcode) *errcode = code >= 0 || says_more ? code : CL_MAP_FAILURE;
  return code == CL_SUCCESS ? pointer : nullptr;
}

bool take_mapping(_cl_mem& mem, const void* pointer, Mapping& out) {
  const MutexLock lock(mem.mutex);
  const auto same = [pointer](const Mapping& m) { return m.pointer == pointer; };
  const auto it = std::find_if(mem.maps.begin(), mem.maps.end(), same);
  if (it == mem.maps.end()) return false;
  out = *it;
  mem.maps.erase(it);
  return true;
}

// Is NULL what a map of no bytes gives?
bool maps_nothing_at_null(Habits habits) {
  return habits.on_nothing(api::FnId::clEnqueueMapBuffer) == CL_SUCCESS && !habits.gives_pointer_to_nothing();
}

// Where a region of an image lies in its shadow.
copy::Layout shadow_layout(const _cl_mem& image, const size_t* origin, const size_t* region) {
  const bool layers = image.type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  const size_t row = layers ? image.slice_pitch() : image.row_pitch();
  const size_t slice = image.slice_pitch();
  const size_t offset = origin[0] * image.element_bytes + origin[1] * row + origin[2] * slice;
  return {offset, region[0] * image.element_bytes, region[1], region[2], row, layers ? 0 : slice};
}

}  // namespace

void* clEnqueueMapBuffer(cl_command_queue queue, cl_mem mem, cl_bool blocking, cl_map_flags flags, size_t offset,
                         size_t size, cl_uint n, const cl_event* list, cl_event* event, cl_int* errcode) {
  check(queue);
  require(!check(mem).is_image(), CL_INVALID_MEM_OBJECT);
  require(queue->context.get() == mem->context.get(), CL_INVALID_CONTEXT);
  require(lies_inside(offset, size, mem->size), CL_INVALID_VALUE);
  check_flags(flags, mem->flags);
  Command c(queue, CL_COMMAND_MAP_BUFFER, n, list, event);
  if (size == 0) require_success(Habits(c.sub_context()).on_nothing(api::FnId::clEnqueueMapBuffer));
  return map(c, *mem, blocking, flags, copy::range(offset, size), {offset, size}, errcode);
}

void* clEnqueueMapImage(cl_command_queue queue, cl_mem mem, cl_bool blocking, cl_map_flags flags,
                        const size_t* origin, const size_t* region, size_t* row_pitch, size_t* slice_pitch, cl_uint n,
                        const cl_event* list, cl_event* event, cl_int* errcode) {
  check(queue);
  require(check(mem).is_image(), CL_INVALID_MEM_OBJECT);
  require(queue->context.get() == mem->context.get(), CL_INVALID_CONTEXT);
  require(region_inside(*mem, origin, region) && row_pitch, CL_INVALID_VALUE);
  const bool layered = mem->slice_pitch() != 0;
  require(slice_pitch || !layered, CL_INVALID_VALUE);
  check_flags(flags, mem->flags);
  Command c(queue, CL_COMMAND_MAP_IMAGE, n, list, event);
  *row_pitch = mem->row_pitch();
  if (slice_pitch) *slice_pitch = mem->slice_pitch();
  return map(c, *mem, blocking, flags, copy::image(origin, region), shadow_layout(*mem, origin, region), errcode);
}

cl_int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem mem, void* pointer, cl_uint n, const cl_event* list,
                               cl_event* event) {
  check(queue);
  check(mem);
  require(queue->context.get() == mem->context.get(), CL_INVALID_CONTEXT);
  Command c(queue, CL_COMMAND_UNMAP_MEM_OBJECT, n, list, event);
  if (!pointer && maps_nothing_at_null(Habits(c.sub_context()))) {
    order_only(c);
    return c.sent();
  }
  Mapping mapping;
  require(take_mapping(*mem, pointer, mapping), CL_INVALID_VALUE);
  if (copy::packed_bytes(mapping.layout) == 0) {
    order_only(c);
    return c.sent();
  }
  if (mem->lies_in_svm()) {
    send_unmap(c, mem->root().svm, pointer);
    return c.sent();
  }
  if (!(mapping.flags & Writing)) {
    order_only(c);
    return c.sent();
  }
  c.writes(*mem);
  _cl_event& done = c.want_event();
  const ObjectId name = c.name(*mem);
  const Ids& waits = c.waits();
  const bool coming = c.takes_coming(mem->shadow(), mapping.layout.extent());
  send_write({c.sub_context(), queue->name, name, mapping.part, mem->element(), mapping.layout, waits,
              coming ? &c.after() : nullptr},
             mem->shadow(), &done, Until::Sent, std::make_shared<Ref<_cl_mem>>(mem));
  // The shadow is read until then.
  done.then([mem = Ref<_cl_mem>(mem)](cl_int) {});
  done.subscribe();
  return c.sent();
}

}  // namespace gt::virt::fn
