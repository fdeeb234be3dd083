// Commands that move or make contents without the host: copies, fills, migrations, markers and barriers.
#include <algorithm>
#include <vector>

#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/calls/command.h"
#include "optimizer-rt/client/calls/svm_commands.h"
#include "optimizer-rt/client/memory/regions.h"
#include "optimizer-rt/client/objects/habits.h"

namespace gt::virt::fn {
namespace {

using api::FnId;

_cl_mem& buffer_of(cl_command_queue queue, cl_mem mem) {
  require(!check(mem).is_image(), CL_INVALID_MEM_OBJECT);
  require(check(queue).context.get() == mem->context.get(), CL_INVALID_CONTEXT);
  return *mem;
}
_cl_mem& image_of(cl_command_queue queue, cl_mem mem) {
  require(check(mem).is_image(), CL_INVALID_MEM_OBJECT);
  require(check(queue).context.get() == mem->context.get(), CL_INVALID_CONTEXT);
  return *mem;
}

// Do [a, a + n) and [b, b + n) of roots meet?
bool meet(_cl_mem& from, size_t a, _cl_mem& to, size_t b, size_t n) {
  if (&from.root() != &to.root()) return false;
  return copy::meet(copy::range(a + from.origin_in_root(), n), copy::range(b + to.origin_in_root(), n));
}

bool pattern_size(size_t n) { return n != 0 && n <= 128 && (n & (n - 1)) == 0; }

// Bytes of a fill colour: four of its channel type.
size_t colour_bytes(const cl_image_format& format) { return format.image_channel_order == CL_DEPTH ? 4 : 16; }

// Of `image` and a buffer. NVIDIA's driver refuses these of 1D arrays, others take them: it is waited for.
template <FnId F, class... A>
cl_int send_copy(Command& c, const _cl_mem& image, _cl_mem& src, _cl_mem& dst, const A&... arguments) {
  const bool is_asked = image.type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  if (is_asked) c.want_event();
  c.reads(src);
  c.writes(dst);
  c.call<F>(as<cl_command_queue>(c.queue().name), as<cl_mem>(c.name(src)), as<cl_mem>(c.name(dst)), arguments...);
  if (is_asked) c.require_taken();
  return c.sent();
}

}  // namespace

cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset,
                           size_t size, cl_uint n, const cl_event* list, cl_event* event) {
  check(queue);
  _cl_mem& src = buffer_of(queue, from);
  _cl_mem& dst = buffer_of(queue, to);
  require(lies_inside(from_offset, size, src.size) && lies_inside(to_offset, size, dst.size), CL_INVALID_VALUE);
  require(size == 0 || !meet(src, from_offset, dst, to_offset, size), CL_MEM_COPY_OVERLAP);
  Command c(queue, CL_COMMAND_COPY_BUFFER, n, list, event);
  if (size == 0) return do_nothing(c, Habits(c.sub_context()).on_nothing(FnId::clEnqueueCopyBuffer), false);
  c.reads(src);
  c.writes(dst);
  c.call<FnId::clEnqueueCopyBuffer>(as<cl_command_queue>(queue->name), as<cl_mem>(c.name(src)),
                                    as<cl_mem>(c.name(dst)), from_offset, to_offset, size);
  return c.sent();
}

cl_int clEnqueueCopyBufferRect(cl_command_queue queue, cl_mem from, cl_mem to, const size_t* from_origin,
                               const size_t* to_origin, const size_t* region, size_t from_row, size_t from_slice,
                               size_t to_row, size_t to_slice, cl_uint n, const cl_event* list, cl_event* event) {
  check(queue);
  _cl_mem& src = buffer_of(queue, from);
  _cl_mem& dst = buffer_of(queue, to);
  require(from_origin && to_origin && region, CL_INVALID_VALUE);
  const copy::Region a = copy::box(from_origin, region, from_row, from_slice);
  const copy::Region b = copy::box(to_origin, region, to_row, to_slice);
  const copy::Bounds in_src = copy::bounds(a), in_dst = copy::bounds(b);
  const bool empty = is_empty(region);
  require(in_src.within(src.size) && in_dst.within(dst.size), CL_INVALID_VALUE);
  if (&src == &dst) {
    require(a.row_pitch == b.row_pitch && a.slice_pitch == b.slice_pitch, CL_INVALID_VALUE);
    require(empty || !copy::meet(a, b), CL_MEM_COPY_OVERLAP);
  }
  Command c(queue, CL_COMMAND_COPY_BUFFER_RECT, n, list, event);
  constexpr FnId Fn = FnId::clEnqueueCopyBufferRect;
  if (empty) return do_nothing(c, Habits(c.sub_context()).on_nothing(Fn, sides(region)), false);
  if (!in_src.even || !in_dst.even) require_success(Habits(c.sub_context()).on_uneven_slices(Fn));
  c.reads(src);
  c.writes(dst);
  c.call<FnId::clEnqueueCopyBufferRect>(as<cl_command_queue>(queue->name), as<cl_mem>(c.name(src)),
                                        as<cl_mem>(c.name(dst)), from_origin, to_origin, region, a.row_pitch,
                                        a.slice_pitch, b.row_pitch, b.slice_pitch);
  return c.sent();
}

cl_int clEnqueueCopyImage(cl_command_queue queue, cl_mem from, cl_mem to, const size_t* from_origin,
                          const size_t* to_origin, const size_t* region, cl_uint n, const cl_event* list,
                          cl_event* event) {
  check(queue);
  _cl_mem& src = image_of(queue, from);
  _cl_mem& dst = image_of(queue, to);
  require(src.format.image_channel_order == dst.format.image_channel_order &&
              src.format.image_channel_data_type == dst.format.image_channel_data_type,
          CL_IMAGE_FORMAT_MISMATCH);
  require(region_inside(src, from_origin, region) && region_inside(dst, to_origin, region), CL_INVALID_VALUE);
  require(&src != &dst || !copy::meet(copy::image(from_origin, region), copy::image(to_origin, region)),
          CL_MEM_COPY_OVERLAP);
  Command c(queue, CL_COMMAND_COPY_IMAGE, n, list, event);
  c.reads(src);
  c.writes(dst);
  c.call<FnId::clEnqueueCopyImage>(as<cl_command_queue>(queue->name), as<cl_mem>(c.name(src)),
                                   as<cl_mem>(c.name(dst)), from_origin, to_origin, region);
  return c.sent();
}

cl_int clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem image, cl_mem buffer, const size_t* origin,
                                  const size_t* region, size_t offset, cl_uint n, const cl_event* list,
                                  cl_event* event) {
  check(queue);
  _cl_mem& src = image_of(queue, image);
  _cl_mem& dst = buffer_of(queue, buffer);
  require(region_inside(src, origin, region), CL_INVALID_VALUE);
  const size_t bytes = region[0] * region[1] * region[2] * src.element_bytes;
  require(inside(offset, bytes, dst.size), CL_INVALID_VALUE);
  Command c(queue, CL_COMMAND_COPY_IMAGE_TO_BUFFER, n, list, event);
  return send_copy<FnId::clEnqueueCopyImageToBuffer>(c, src, src, dst, origin, region, offset);
}

cl_int clEnqueueCopyBufferToImage(cl_command_queue queue, cl_mem buffer, cl_mem image, size_t offset,
                                  const size_t* origin, const size_t* region, cl_uint n, const cl_event* list,
                                  cl_event* event) {
  check(queue);
  _cl_mem& src = buffer_of(queue, buffer);
  _cl_mem& dst = image_of(queue, image);
  require(region_inside(dst, origin, region), CL_INVALID_VALUE);
  const size_t bytes = region[0] * region[1] * region[2] * dst.element_bytes;
  require(inside(offset, bytes, src.size), CL_INVALID_VALUE);
  Command c(queue, CL_COMMAND_COPY_BUFFER_TO_IMAGE, n, list, event);
  return send_copy<FnId::clEnqueueCopyBufferToImage>(c, dst, src, dst, offset, origin, region);
}

cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem mem, const void* pattern, size_t pattern_bytes,
                           size_t offset, size_t size, cl_uint n, const cl_event* list, cl_event* event) {
  check(queue);
  _cl_mem& buffer = buffer_of(queue, mem);
  require(offset <= buffer.size && size <= buffer.size - offset, CL_INVALID_VALUE);
  require(pattern && pattern_size(pattern_bytes) && offset % pattern_bytes == 0 && size % pattern_bytes == 0,
          CL_INVALID_VALUE);
  Command c(queue, CL_COMMAND_FILL_BUFFER, n, list, event);
  if (size == 0) return do_nothing(c, Habits(c.sub_context()).on_nothing(FnId::clEnqueueFillBuffer), false);
  c.writes(buffer);
  c.call<FnId::clEnqueueFillBuffer>(as<cl_command_queue>(queue->name), as<cl_mem>(c.name(buffer)), pattern,
                                    pattern_bytes, offset, size);
  return c.sent();
}

cl_int clEnqueueFillImage(cl_command_queue queue, cl_mem mem, const void* colour, const size_t* origin,
                          const size_t* region, cl_uint n, const cl_event* list, cl_event* event) {
  check(queue);
  _cl_mem& image = image_of(queue, mem);
  require(colour && region_inside(image, origin, region), CL_INVALID_VALUE);
  Command c(queue, CL_COMMAND_FILL_IMAGE, n, list, event);
  c.writes(image);
  uint8_t four[16] = {};
  std::memcpy(four, colour, colour_bytes(image.format));
  c.call<FnId::clEnqueueFillImage>(as<cl_command_queue>(queue->name), as<cl_mem>(c.name(image)),
                                   static_cast<const void*>(four), origin, region);
  return c.sent();
}

cl_int clEnqueueMigrateMemObjects(cl_command_queue queue, cl_uint count, const cl_mem* mems,
                                  cl_mem_migration_flags flags, cl_uint n, const cl_event* list, cl_event* event) {
  check(queue);
  constexpr cl_mem_migration_flags Known = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
  require(count != 0 && mems && (flags & ~Known) == 0, CL_INVALID_VALUE);
  for (cl_uint i = 0; i < count; ++i) {
    require(check(mems[i]).context.get() == queue->context.get(), CL_INVALID_CONTEXT);
  }
  Command c(queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, n, list, event);
  std::vector<ObjectId> names;
  for (cl_uint i = 0; i < count; ++i) {
    c.reads(*mems[i]);
    names.push_back(c.name(*mems[i]));
  }
  c.call<FnId::clEnqueueMigrateMemObjects>(as<cl_command_queue>(queue->name), count,
                                           reinterpret_cast<const cl_mem*>(names.data()), flags);
  return c.sent();
}

cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint n, const cl_event* list, cl_event* event) {
  Command c(queue, CL_COMMAND_MARKER, n, list, event);
  c.call<FnId::clEnqueueMarkerWithWaitList>(as<cl_command_queue>(queue->name));
  return c.sent();
}
cl_int clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint n, const cl_event* list, cl_event* event) {
  Command c(queue, CL_COMMAND_BARRIER, n, list, event);
  c.call<FnId::clEnqueueBarrierWithWaitList>(as<cl_command_queue>(queue->name));
  return c.sent();
}
cl_int clEnqueueMarker(cl_command_queue queue, cl_event* event) {
  check(queue);
  require(event, CL_INVALID_VALUE);
  return fn::clEnqueueMarkerWithWaitList(queue, 0, nullptr, event);
}
cl_int clEnqueueBarrier(cl_command_queue queue) { return fn::clEnqueueBarrierWithWaitList(queue, 0, nullptr, nullptr); }
cl_int clEnqueueWaitForEvents(cl_command_queue queue, cl_uint n, const cl_event* list) {
  check(queue);
  require(n != 0 && list, CL_INVALID_VALUE);
  checked_list(n, list, CL_INVALID_VALUE);
  return fn::clEnqueueBarrierWithWaitList(queue, n, list, nullptr);
}

}  // namespace gt::virt::fn
