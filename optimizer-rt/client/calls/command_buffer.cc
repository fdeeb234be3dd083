#include "optimizer-rt/client/calls/command_buffer.h"

#include <utility>

#include "optimizer-rt/client/base/answers.h"
#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/base/info.h"
#include "optimizer-rt/client/calls/command.h"
#include "traces/api/properties.h"

using namespace gt;        // NOLINT: this file is about one of their types
using namespace gt::virt;  // NOLINT
using api::FnId;

namespace {

std::vector<ObjectId> names_of(const std::vector<_cl_command_queue*>& queues) {
  std::vector<ObjectId> names;
  for (const _cl_command_queue* queue : queues) names.push_back(queue->name);
  return names;
}

// With its final 0; empty: none.
std::vector<cl_command_buffer_properties_khr> copy_of(const cl_command_buffer_properties_khr* list) {
  if (!list) return {};
  const size_t words = api::property_words(list);
  require(words < api::MaxPropertyWords, CL_INVALID_VALUE);
  return {list, list + words + 1};
}

bool may_run_at_once(const std::vector<cl_command_buffer_properties_khr>& list) {
  for (size_t i = 0; i + 1 < list.size(); i += 2)
    if (list[i] == CL_COMMAND_BUFFER_FLAGS_KHR) return list[i + 1] & CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR;
  return false;
}

}  // namespace

_cl_command_buffer_khr::_cl_command_buffer_khr(const std::vector<_cl_command_queue*>& list,
                                               const cl_command_buffer_properties_khr* given)
    : Object(Kind),
      context(list[0]->context),
      sub_context(list[0]->sub_context),
      name(sub_context.session.new_id()),
      properties(copy_of(given)),
      simultaneous(may_run_at_once(properties)) {
  for (_cl_command_queue* queue : list) queues.emplace_back(queue);
  const std::vector<ObjectId> names = names_of(list);
  cl_int errcode = 0;
  const Bytes outputs = sub_context.session.ask<FnId::clCreateCommandBufferKHR>(
      {name}, static_cast<cl_uint>(names.size()), reinterpret_cast<const cl_command_queue*>(names.data()), given,
      &errcode);
  require_success(creation_code(FnId::clCreateCommandBufferKHR, outputs));
}

_cl_command_buffer_khr::~_cl_command_buffer_khr() {
  if (!sub_context.session.alive()) return;
  try {
    sub_context.session.call<FnId::clReleaseCommandBufferKHR>({}, as<cl_command_buffer_khr>(name));
  } catch (const Failure&) {  // nothing is left to release
  }
}

namespace gt::virt::fn {
namespace {

std::vector<_cl_command_queue*> checked_queues(cl_uint n, const cl_command_queue* list) {
  std::vector<_cl_command_queue*> queues;
  for (cl_uint i = 0; i < n; ++i) {
    queues.push_back(&check(list[i]));
    require(list[i]->context.get() == list[0]->context.get(), CL_INVALID_CONTEXT);
  }
  return queues;
}

Bytes ask_info(_cl_command_buffer_khr& buffer, cl_command_buffer_info_khr name) {
  size_t size = 0;
  int wanted = 0;
  const Bytes outputs = buffer.sub_context.session.ask<FnId::clGetCommandBufferInfoKHR>(
      {}, as<cl_command_buffer_khr>(buffer.name), name, LargestInfo, static_cast<void*>(&wanted), &size);
  InfoAnswer answer = info_of(FnId::clGetCommandBufferInfoKHR, outputs);
  require_success(answer.code);
  return std::move(answer.value);
}

// Its kernels may have been told to reach kinds of memory: all that the program uses as it likes counts as written.
void use_reached(_cl_command_buffer_khr& buffer, SharedUse& use) GT_REQUIRES(buffer.mutex) {
  if (buffer.kernels.empty()) return;
  for (const SvmBlocks* const blocks : {&buffer.context->svm, &buffer.context->usm})
    for (const auto& block : blocks->in_step([](const auto&) { return true; })) use.writes(block);
}

// A run that the driver may refuse is waited for until it has been taken: then its answer is the call's.
bool is_asked(_cl_command_buffer_khr& buffer, const std::vector<_cl_command_queue*>& instead)
    GT_REQUIRES(buffer.mutex) {
  const _cl_event* const last = buffer.last_run.get();
  const bool over = !last || last->ended() || last->ended_by_finish();
  return !buffer.finalized || (!buffer.simultaneous && !over) || (!instead.empty() && !buffer.taken.contains(instead));
}

}  // namespace

cl_command_buffer_khr clCreateCommandBufferKHR(cl_uint n, const cl_command_queue* list,
                                               const cl_command_buffer_properties_khr* properties, cl_int* errcode) {
  require(n != 0 && list, CL_INVALID_VALUE);
  const std::vector<_cl_command_queue*> queues = checked_queues(n, list);
  for (const _cl_command_queue* queue : queues)
    require(&queue->sub_context == &queues[0]->sub_context, CL_INCOMPATIBLE_COMMAND_QUEUE_KHR);
  Ref<_cl_command_buffer_khr> buffer = make<_cl_command_buffer_khr>(queues, properties);
  if (errcode) *errcode = CL_SUCCESS;
  return buffer.give();
}

cl_int clFinalizeCommandBufferKHR(cl_command_buffer_khr buffer) {
  check(buffer);
  const Bytes outputs =
      buffer->sub_context.session.ask<FnId::clFinalizeCommandBufferKHR>({}, as<cl_command_buffer_khr>(buffer->name));
  require_success(answer_of(FnId::clFinalizeCommandBufferKHR, outputs).code);
  const MutexLock lock(buffer->mutex);
  buffer->finalized = true;
  return CL_SUCCESS;
}

cl_int clRetainCommandBufferKHR(cl_command_buffer_khr buffer) { return retain(buffer); }
cl_int clReleaseCommandBufferKHR(cl_command_buffer_khr buffer) { return release(buffer); }

cl_int clEnqueueCommandBufferKHR(cl_uint queue_count, cl_command_queue* queues, cl_command_buffer_khr buffer, cl_uint n,
                                 const cl_event* list, cl_event* event) {
  check(buffer);
  require((queue_count == 0) == (queues == nullptr), CL_INVALID_VALUE);
  require(queue_count == 0 || queue_count == buffer->queues.size(), CL_INVALID_VALUE);
  const std::vector<_cl_command_queue*> instead = checked_queues(queue_count, queues);
  for (const _cl_command_queue* queue : instead) {
    require(queue->context.get() == buffer->context.get(), CL_INVALID_CONTEXT);
    require(&queue->sub_context == &buffer->sub_context, CL_INCOMPATIBLE_COMMAND_QUEUE_KHR);
  }
  const MutexLock lock(buffer->mutex);
  Command c(instead.empty() ? buffer->queues[0].get() : instead[0], CL_COMMAND_COMMAND_BUFFER_KHR, n, list, event);
  for (const auto& [mem, use] : buffer->memory) use.second ? c.writes(*mem) : c.reads(*mem);
  use_reached(*buffer, c.shared());
  const bool asked = is_asked(*buffer, instead);
  if (asked || !buffer->simultaneous) c.want_event();
  const std::vector<ObjectId> names = names_of(instead);
  auto* const named =
      names.empty() ? nullptr : reinterpret_cast<cl_command_queue*>(const_cast<ObjectId*>(names.data()));
  c.call<FnId::clEnqueueCommandBufferKHR>(queue_count, named, as<cl_command_buffer_khr>(buffer->name));
  if (asked) c.require_taken();
  if (asked && !instead.empty()) buffer->taken.insert(instead);
  if (!buffer->simultaneous) buffer->last_run = Ref<_cl_event>(&c.want_event());
  return c.sent();
}

cl_int clGetCommandBufferInfoKHR(cl_command_buffer_khr buffer, cl_command_buffer_info_khr name, size_t room,
                                 void* value, size_t* size_ret) {
  constexpr cl_command_buffer_info_khr Context = 0x1299;  // CL_COMMAND_BUFFER_CONTEXT_KHR, of later headers
  check(buffer);
  const Answer answer(room, value, size_ret);
  switch (name) {
    case CL_COMMAND_BUFFER_QUEUES_KHR: {
      std::vector<cl_command_queue> queues;
      for (const Ref<_cl_command_queue>& queue : buffer->queues) queues.push_back(queue.get());
      return answer.list(queues);
    }
    case CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR:  // PoCL 3.1 gives addresses of its own
      return answer.list(buffer->properties);
    case CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR:
      return answer.value<cl_uint>(buffer->references);
    case Context:
      ask_info(*buffer, name);  // older drivers do not know it
      return answer.value(buffer->context.get());
    default:
      return answer.bytes(ask_info(*buffer, name));
  }
}

}  // namespace gt::virt::fn
