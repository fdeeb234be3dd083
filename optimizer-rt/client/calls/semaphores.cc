// Semaphores inside one driver (cl_khr_semaphore): names of the driver's. Those that other programs or APIs know do not
// go: a device says of none that it exports or imports them.
#include <CL/cl_ext.h>

#include <vector>

#include "optimizer-rt/client/base/answers.h"
#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/base/info.h"
#include "optimizer-rt/client/calls/command.h"
#include "optimizer-rt/client/platform/native_device.h"
#include "traces/api/properties.h"

struct _cl_semaphore_khr : gt::virt::Object {
  static constexpr auto Kind = gt::virt::Type::Semaphore;
  static constexpr cl_int Invalid = CL_INVALID_SEMAPHORE_KHR;

  // `list`: in names. The driver makes it before this returns; throws what that says.
  _cl_semaphore_khr(gt::virt::SubContext& s, const std::vector<cl_semaphore_properties_khr>& list);
  ~_cl_semaphore_khr();

  const gt::virt::Ref<_cl_context> context;
  gt::virt::SubContext& sub_context;
  const gt::virt::ObjectId name;
  std::vector<cl_semaphore_properties_khr> properties;  // as the program gave them, with their final 0
  gt::Mutex mutex;
  gt::virt::Gates gates GT_GUARDED_BY(mutex);  // what its signals are behind; they come before what waits for them
};

using namespace gt;        // NOLINT: this file is about one of their types
using namespace gt::virt;  // NOLINT
using api::FnId;

_cl_semaphore_khr::_cl_semaphore_khr(SubContext& s, const std::vector<cl_semaphore_properties_khr>& list)
    : Object(Kind), context(&s.context), sub_context(s), name(s.session.new_id()) {
  cl_int errcode = 0;
  const Bytes outputs = s.session.ask<FnId::clCreateSemaphoreWithPropertiesKHR>(
      {name}, as<cl_context>(s.name), list.empty() ? nullptr : list.data(), &errcode);
  require_success(creation_code(FnId::clCreateSemaphoreWithPropertiesKHR, outputs));
}

_cl_semaphore_khr::~_cl_semaphore_khr() {
  if (!sub_context.session.alive()) return;
  try {
    sub_context.session.call<FnId::clReleaseSemaphoreKHR>({}, as<cl_semaphore_khr>(name));
  } catch (const Failure&) {  // nothing is left to release
  }
}

namespace gt::virt::fn {
namespace {

using Properties = std::vector<cl_semaphore_properties_khr>;

// The program's list, with its final 0, and the same in names.
struct Lists {
  Properties given, named;
  std::vector<_cl_device_id*> devices;
};

Lists lists_of(const _cl_context& context, const cl_semaphore_properties_khr* list) {
  Lists lists;
  const size_t words = list ? api::property_words(list) : 0;
  require(words < api::MaxPropertyWords, CL_INVALID_PROPERTY);
  api::PropertyWalk walk;
  for (size_t i = 0; i < words; ++i) {
    const bool key = walk.at_key();
    const bool device = walk.is_object(list[i]) && walk.kind() == api::ObjectKind::Device;
    require(!key || list[i] == CL_SEMAPHORE_TYPE_KHR || list[i] == CL_DEVICE_HANDLE_LIST_KHR, CL_INVALID_PROPERTY);
    lists.given.push_back(list[i]);
    lists.named.push_back(list[i]);
    if (!device) continue;
    lists.devices.push_back(&device_of(reinterpret_cast<cl_device_id>(list[i])));
    require(context.has(lists.devices.back()), CL_INVALID_DEVICE);
    lists.named.back() = lists.devices.back()->name;
  }
  if (list) {
    lists.given.push_back(0);
    lists.named.push_back(0);
  }
  return lists;
}

using List = const cl_semaphore_khr*;
using Payloads = const cl_semaphore_payload_khr*;

template <FnId F>
cl_int enqueue(cl_command_queue queue, cl_command_type type, cl_uint count, List list, Payloads payloads, cl_uint n,
               const cl_event* events, cl_event* event) {
  check(queue);
  require(count != 0 && list, CL_INVALID_VALUE);
  std::vector<ObjectId> names;
  Gates gates;
  for (cl_uint i = 0; i < count; ++i) {
    _cl_semaphore_khr& semaphore = check(list[i]);
    require(&semaphore.sub_context == &queue->sub_context, CL_INVALID_CONTEXT);
    names.push_back(semaphore.name);
    const MutexLock lock(semaphore.mutex);
    add_closed(gates, semaphore.gates);
  }
  Command c(queue, type, n, events, event);
  if (F == FnId::clEnqueueWaitSemaphoresKHR) c.is_behind(gates);
  c.want_event();  // its driver may refuse what the semaphore's state does not allow
  c.call<F>(as<cl_command_queue>(queue->name), count, reinterpret_cast<List>(names.data()), payloads);
  c.require_taken();
  for (cl_uint i = 0; F == FnId::clEnqueueSignalSemaphoresKHR && i < count; ++i) {
    const MutexLock lock(list[i]->mutex);
    add_closed(list[i]->gates, c.gates());
    std::erase_if(list[i]->gates, [](const std::shared_ptr<Gate>& gate) { return gate->is_open(); });
  }
  return c.sent();
}

}  // namespace

cl_semaphore_khr clCreateSemaphoreWithPropertiesKHR(cl_context context, const cl_semaphore_properties_khr* list,
                                                    cl_int* errcode) {
  check(context);
  Lists lists = lists_of(*context, list);
  SubContext& sub_context =
      lists.devices.empty() ? *context->sub_contexts[0] : context->sub_context_of(lists.devices[0]);
  require(context->one_sub_context() || !lists.devices.empty(), CL_INVALID_PROPERTY);
  for (_cl_device_id* device : lists.devices)
    require(&context->sub_context_of(device) == &sub_context, CL_INVALID_DEVICE);
  Ref<_cl_semaphore_khr> semaphore = make<_cl_semaphore_khr>(sub_context, lists.named);
  semaphore->properties = std::move(lists.given);
  if (errcode) *errcode = CL_SUCCESS;
  return semaphore.give();
}

cl_int clRetainSemaphoreKHR(cl_semaphore_khr semaphore) { return retain(semaphore); }
cl_int clReleaseSemaphoreKHR(cl_semaphore_khr semaphore) { return release(semaphore); }

cl_int clEnqueueWaitSemaphoresKHR(cl_command_queue queue, cl_uint count, List list, Payloads payloads, cl_uint n,
                                  const cl_event* events, cl_event* event) {
  return enqueue<FnId::clEnqueueWaitSemaphoresKHR>(queue, CL_COMMAND_SEMAPHORE_WAIT_KHR, count, list, payloads, n,
                                                   events, event);
}
cl_int clEnqueueSignalSemaphoresKHR(cl_command_queue queue, cl_uint count, List list, Payloads payloads, cl_uint n,
                                    const cl_event* events, cl_event* event) {
  return enqueue<FnId::clEnqueueSignalSemaphoresKHR>(queue, CL_COMMAND_SEMAPHORE_SIGNAL_KHR, count, list, payloads, n,
                                                     events, event);
}

cl_int clGetSemaphoreInfoKHR(cl_semaphore_khr semaphore, cl_semaphore_info_khr name, size_t room, void* value,
                             size_t* size_ret) {
  check(semaphore);
  const Answer answer(room, value, size_ret);
  if (name == CL_SEMAPHORE_CONTEXT_KHR) return answer.value(semaphore->context.get());
  if (name == CL_SEMAPHORE_REFERENCE_COUNT_KHR) return answer.value<cl_uint>(semaphore->references);
  if (name == CL_SEMAPHORE_PROPERTIES_KHR) return answer.list(semaphore->properties);
  size_t size = 0;
  int wanted = 0;
  const Bytes outputs = semaphore->sub_context.session.ask<FnId::clGetSemaphoreInfoKHR>(
      {}, as<cl_semaphore_khr>(semaphore->name), name, LargestInfo, static_cast<void*>(&wanted), &size);
  const InfoAnswer told = info_of(FnId::clGetSemaphoreInfoKHR, outputs);
  require_success(told.code);
  return answer.bytes(told.value);
}

}  // namespace gt::virt::fn
