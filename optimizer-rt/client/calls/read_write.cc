// clEnqueueRead* and clEnqueueWrite*: ranges, boxes and images.
#include "optimizer-rt/client/base/configuration.h"
#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/base/latch.h"
#include "optimizer-rt/client/calls/command.h"
#include "optimizer-rt/client/calls/svm_commands.h"
#include "optimizer-rt/client/memory/regions.h"
#include "optimizer-rt/client/objects/habits.h"
#include "optimizer-rt/client/transfer/transfer.h"

namespace gt::virt::fn {
namespace {

using api::FnId;

// Sends a read or write whose arguments are sound.
cl_int move(Command& c, _cl_mem& mem, bool to_device, cl_bool blocking, const copy::Region& part,
            const copy::Layout& layout, void* host) {
  if (blocking) c.block();
  const bool all = !mem.parent && !mem.is_image() && copy::packed_bytes(layout) == mem.size;
  to_device ? (all ? c.overwrites(mem) : c.writes(mem)) : c.reads(mem);
  if (!to_device || !writes_inline(c.session(), copy::packed_bytes(layout))) c.want_event();
  const bool coming = to_device && c.takes_coming(host, layout.extent());
  const ObjectId name = c.name(mem);
  const Ids& waits = c.waits();
  const Transfer t{c.sub_context(), c.queue().name, name,  part,
                   mem.element(),   layout,         waits, coming ? &c.after() : nullptr};
  if (to_device) {
    send_write(t, host, c.event() ? &c.want_event() : nullptr, blocking ? Until::Captured : Until::Sent);
    return c.sent();
  }
  if (!blocking) c.writes_host(host, layout.extent());
  Waiting waiting(blocking && !sync_errors() ? &c.session().link() : nullptr);
  send_read(t, host, c.want_event());
  return blocking ? c.sent_and_wait() : c.sent();
}

_cl_mem& checked_buffer(cl_mem mem) {
  require(!check(mem).is_image(), CL_INVALID_MEM_OBJECT);
  return *mem;
}
_cl_mem& checked_image(cl_mem mem) {
  require(check(mem).is_image(), CL_INVALID_MEM_OBJECT);
  return *mem;
}

struct Waits {
  cl_uint n;
  const cl_event* list;
  cl_event* event;
};

cl_int range(cl_command_queue queue, cl_mem mem, bool to_device, cl_bool blocking, size_t offset, size_t size,
             void* host, Waits w) {
  check(queue);
  _cl_mem& buffer = checked_buffer(mem);
  require(queue->context.get() == buffer.context.get(), CL_INVALID_CONTEXT);
  require(host && lies_inside(offset, size, buffer.size), CL_INVALID_VALUE);
  Command c(queue, to_device ? CL_COMMAND_WRITE_BUFFER : CL_COMMAND_READ_BUFFER, w.n, w.list, w.event);
  require(to_device ? host_writes(buffer.flags) : host_reads(buffer.flags), CL_INVALID_OPERATION);
  const FnId fn = to_device ? FnId::clEnqueueWriteBuffer : FnId::clEnqueueReadBuffer;
  if (size == 0) return do_nothing(c, Habits(c.sub_context()).on_nothing(fn), blocking);
  return move(c, buffer, to_device, blocking, copy::range(offset, size), {0, size}, host);
}

cl_int box(cl_command_queue queue, cl_mem mem, bool to_device, cl_bool blocking, const size_t* origin,
           const size_t* host_origin, const size_t* region, size_t row, size_t slice, size_t host_row,
           size_t host_slice, void* host, Waits w) {
  check(queue);
  _cl_mem& buffer = checked_buffer(mem);
  require(queue->context.get() == buffer.context.get(), CL_INVALID_CONTEXT);
  require(host && origin && host_origin && region, CL_INVALID_VALUE);
  const copy::Region device = copy::box(origin, region, row, slice);
  const copy::Region there = copy::box(host_origin, region, host_row, host_slice);
  const copy::Bounds in_buffer = copy::bounds(device), in_host = copy::bounds(there);
  require(in_buffer.within(buffer.size) && in_host.sound, CL_INVALID_VALUE);
  Command c(queue, to_device ? CL_COMMAND_WRITE_BUFFER_RECT : CL_COMMAND_READ_BUFFER_RECT, w.n, w.list, w.event);
  require(to_device ? host_writes(buffer.flags) : host_reads(buffer.flags), CL_INVALID_OPERATION);
  const FnId fn = to_device ? FnId::clEnqueueWriteBufferRect : FnId::clEnqueueReadBufferRect;
  if (is_empty(region)) return do_nothing(c, Habits(c.sub_context()).on_nothing(fn, sides(region)), blocking);
  if (!in_buffer.even || !in_host.even) require_success(Habits(c.sub_context()).on_uneven_slices(fn));
  return move(c, buffer, to_device, blocking, device, copy::layout(there, in_host), host);
}

cl_int image_box(cl_command_queue queue, cl_mem mem, bool to_device, cl_bool blocking, const size_t* origin,
                 const size_t* region, size_t row, size_t slice, void* host, Waits w) {
  check(queue);
  _cl_mem& image = checked_image(mem);
  require(queue->context.get() == image.context.get(), CL_INVALID_CONTEXT);
  const bool empty = is_empty_inside(image, origin, region);
  require(host && (empty || region_inside(image, origin, region)), CL_INVALID_VALUE);
  const copy::Layout layout{0, region[0] * image.element_bytes, region[1], region[2], row, slice};
  require(pitches_sound(image, layout), CL_INVALID_VALUE);
  Command c(queue, to_device ? CL_COMMAND_WRITE_IMAGE : CL_COMMAND_READ_IMAGE, w.n, w.list, w.event);
  require(to_device ? host_writes(image.flags) : host_reads(image.flags), CL_INVALID_OPERATION);
  const FnId fn = to_device ? FnId::clEnqueueWriteImage : FnId::clEnqueueReadImage;
  if (empty) return do_nothing(c, Habits(c.sub_context()).on_nothing(fn, sides(region)), blocking);
  return move(c, image, to_device, blocking, copy::image(origin, region), layout, host);
}

}  // namespace

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                           void* host, cl_uint n, const cl_event* list, cl_event* event) {
  return range(queue, buffer, false, blocking, offset, size, host, {n, list, event});
}
cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                            const void* host, cl_uint n, const cl_event* list, cl_event* event) {
  return range(queue, buffer, true, blocking, offset, size, const_cast<void*>(host), {n, list, event});
}

cl_int clEnqueueReadBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t* origin,
                               const size_t* host_origin, const size_t* region, size_t row, size_t slice,
                               size_t host_row, size_t host_slice, void* host, cl_uint n, const cl_event* list,
                               cl_event* event) {
  return box(queue, buffer, false, blocking, origin, host_origin, region, row, slice, host_row, host_slice, host,
             {n, list, event});
}
cl_int clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t* origin,
                                const size_t* host_origin, const size_t* region, size_t row, size_t slice,
                                size_t host_row, size_t host_slice, const void* host, cl_uint n, const cl_event* list,
                                cl_event* event) {
  return box(queue, buffer, true, blocking, origin, host_origin, region, row, slice, host_row, host_slice,
             const_cast<void*>(host), {n, list, event});
}

cl_int clEnqueueReadImage(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t* origin,
                          const size_t* region, size_t row, size_t slice, void* host, cl_uint n, const cl_event* list,
                          cl_event* event) {
  return image_box(queue, image, false, blocking, origin, region, row, slice, host, {n, list, event});
}
cl_int clEnqueueWriteImage(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t* origin,
                           const size_t* region, size_t row, size_t slice, const void* host, cl_uint n,
                           const cl_event* list, cl_event* event) {
  return image_box(queue, image, true, blocking, origin, region, row, slice, const_cast<void*>(host),
                   {n, list, event});
}

}  // namespace gt::virt::fn
