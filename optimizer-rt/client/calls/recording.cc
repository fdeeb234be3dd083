#include "optimizer-rt/client/calls/recording.h"

#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/memory/regions.h"
#include "optimizer-rt/client/transfer/peer_mapped.h"

namespace gt::virt {

using api::FnId;

Recording::Recording(cl_command_buffer_khr buffer, cl_command_queue queue, cl_uint n, const cl_sync_point_khr* list,
                     cl_sync_point_khr* point, cl_mutable_command_khr* handle)
    : buffer_(check(buffer)), queue_(queue), n_(n), list_(list), point_(point), handle_(handle) {
  if (!queue) return;
  require(check(queue).context.get() == buffer->context.get(), CL_INVALID_CONTEXT);
  require(&queue->sub_context == &sub_context(), CL_INVALID_COMMAND_QUEUE);
}

_cl_mem& Recording::checked(cl_mem mem, bool image) {
  require(check(mem).is_image() == image, CL_INVALID_MEM_OBJECT);
  return *mem;
}

void Recording::use(_cl_mem& mem, bool written) {
  require(mem.context.get() == buffer_.context.get(), CL_INVALID_CONTEXT);
  keep_in_place(mem);
  memory_.emplace_back(&mem, written);
}

void note_use(_cl_command_buffer_khr& buffer, _cl_mem& mem, bool written) {
  auto& [held, writes] = buffer.memory[&mem];
  held = Ref<_cl_mem>(&mem);
  writes = writes || written;
}

cl_int Recording::recorded(FnId fn, ByteView outputs, ObjectId made) {
  const CallAnswer answer = answer_of(fn, outputs);
  require_success(answer.code);
  const uint16_t last = api::param_count(static_cast<uint16_t>(fn)) - 1;
  if (point_) *point_ = static_cast<cl_sync_point_khr>(answer.number(last - 1));
  const MutexLock lock(buffer_.mutex);
  for (const auto& [mem, written] : memory_) note_use(buffer_, *mem, written);
  if (kernel_) buffer_.kernels.push_back(kernel_);
  if (!handle_) return CL_SUCCESS;
  buffer_.commands.push_back(std::make_unique<_cl_mutable_command_khr>(buffer_, queue(), kernel_.get(), made));
  *handle_ = buffer_.commands.back().get();
  return CL_SUCCESS;
}

namespace fn {

cl_int clCommandBarrierWithWaitListKHR(cl_command_buffer_khr buffer, cl_command_queue queue, cl_uint n,
                                       const cl_sync_point_khr* list, cl_sync_point_khr* point,
                                       cl_mutable_command_khr* handle) {
  return Recording(buffer, queue, n, list, point, handle).record<FnId::clCommandBarrierWithWaitListKHR>();
}

cl_int clCommandCopyBufferKHR(cl_command_buffer_khr buffer, cl_command_queue queue, cl_mem from, cl_mem to,
                              size_t from_offset, size_t to_offset, size_t size, cl_uint n,
                              const cl_sync_point_khr* list, cl_sync_point_khr* point, cl_mutable_command_khr* handle) {
  Recording r(buffer, queue, n, list, point, handle);
  r.reads(r.buffer(from));
  r.writes(r.buffer(to));
  return r.record<FnId::clCommandCopyBufferKHR>(as<cl_mem>(r.name(*from)), as<cl_mem>(r.name(*to)), from_offset,
                                                to_offset, size);
}

cl_int clCommandCopyBufferRectKHR(cl_command_buffer_khr buffer, cl_command_queue queue, cl_mem from, cl_mem to,
                                  const size_t* from_origin, const size_t* to_origin, const size_t* region,
                                  size_t from_row, size_t from_slice, size_t to_row, size_t to_slice, cl_uint n,
                                  const cl_sync_point_khr* list, cl_sync_point_khr* point,
                                  cl_mutable_command_khr* handle) {
  Recording r(buffer, queue, n, list, point, handle);
  r.reads(r.buffer(from));
  r.writes(r.buffer(to));
  require(from_origin && to_origin && region, CL_INVALID_VALUE);
  return r.record<FnId::clCommandCopyBufferRectKHR>(as<cl_mem>(r.name(*from)), as<cl_mem>(r.name(*to)), from_origin,
                                                    to_origin, region, from_row, from_slice, to_row, to_slice);
}

cl_int clCommandCopyBufferToImageKHR(cl_command_buffer_khr buffer, cl_command_queue queue, cl_mem from, cl_mem to,
                                     size_t offset, const size_t* origin, const size_t* region, cl_uint n,
                                     const cl_sync_point_khr* list, cl_sync_point_khr* point,
                                     cl_mutable_command_khr* handle) {
  Recording r(buffer, queue, n, list, point, handle);
  r.reads(r.buffer(from));
  r.writes(r.image(to));
  require(region_inside(*to, origin, region), CL_INVALID_VALUE);
  return r.record<FnId::clCommandCopyBufferToImageKHR>(as<cl_mem>(r.name(*from)), as<cl_mem>(r.name(*to)), offset,
                                                       origin, region);
}

cl_int clCommandCopyImageKHR(cl_command_buffer_khr buffer, cl_command_queue queue, cl_mem from, cl_mem to,
                             const size_t* from_origin, const size_t* to_origin, const size_t* region, cl_uint n,
                             const cl_sync_point_khr* list, cl_sync_point_khr* point, cl_mutable_command_khr* handle) {
  Recording r(buffer, queue, n, list, point, handle);
  r.reads(r.image(from));
  r.writes(r.image(to));
  require(region_inside(*from, from_origin, region) && region_inside(*to, to_origin, region), CL_INVALID_VALUE);
  return r.record<FnId::clCommandCopyImageKHR>(as<cl_mem>(r.name(*from)), as<cl_mem>(r.name(*to)), from_origin,
                                               to_origin, region);
}

cl_int clCommandCopyImageToBufferKHR(cl_command_buffer_khr buffer, cl_command_queue queue, cl_mem from, cl_mem to,
                                     const size_t* origin, const size_t* region, size_t offset, cl_uint n,
                                     const cl_sync_point_khr* list, cl_sync_point_khr* point,
                                     cl_mutable_command_khr* handle) {
  Recording r(buffer, queue, n, list, point, handle);
  r.reads(r.image(from));
  r.writes(r.buffer(to));
  require(region_inside(*from, origin, region), CL_INVALID_VALUE);
  return r.record<FnId::clCommandCopyImageToBufferKHR>(as<cl_mem>(r.name(*from)), as<cl_mem>(r.name(*to)), origin,
                                                       region, offset);
}

cl_int clCommandFillBufferKHR(cl_command_buffer_khr buffer, cl_command_queue queue, cl_mem to, const void* pattern,
                              size_t pattern_size, size_t offset, size_t size, cl_uint n, const cl_sync_point_khr* list,
                              cl_sync_point_khr* point, cl_mutable_command_khr* handle) {
  constexpr size_t LargestPattern = 128;
  Recording r(buffer, queue, n, list, point, handle);
  r.writes(r.buffer(to));
  require(pattern && pattern_size != 0 && pattern_size <= LargestPattern, CL_INVALID_VALUE);
  return r.record<FnId::clCommandFillBufferKHR>(as<cl_mem>(r.name(*to)), pattern, pattern_size, offset, size);
}

cl_int clCommandFillImageKHR(cl_command_buffer_khr buffer, cl_command_queue queue, cl_mem to, const void* colour,
                             const size_t* origin, const size_t* region, cl_uint n, const cl_sync_point_khr* list,
                             cl_sync_point_khr* point, cl_mutable_command_khr* handle) {
  Recording r(buffer, queue, n, list, point, handle);
  r.writes(r.image(to));
  require(colour && region_inside(*to, origin, region), CL_INVALID_VALUE);
  uint8_t four[16] = {};
  std::memcpy(four, colour, to->format.image_channel_order == CL_DEPTH ? 4 : sizeof four);
  return r.record<FnId::clCommandFillImageKHR>(as<cl_mem>(r.name(*to)), static_cast<const void*>(four), origin, region);
}

}  // namespace fn
}  // namespace gt::virt
