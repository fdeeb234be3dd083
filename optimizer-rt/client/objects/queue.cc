#include "optimizer-rt/client/objects/queue.h"

#include <utility>

using namespace gt;        // NOLINT: this file is about one of their types
using namespace gt::virt;  // NOLINT

// Drivers of OpenCL 1.2 have no function that takes a list, and no hints.
static bool has_hints(const std::vector<cl_queue_properties>& list) {
  for (size_t i = 0; i + 1 < list.size(); i += 2)
    if (list[i] != CL_QUEUE_PROPERTIES) return true;
  return false;
}

_cl_command_queue::_cl_command_queue(_cl_context& c, _cl_device_id& d, cl_command_queue_properties p,
                                     std::vector<cl_queue_properties> given, std::unique_ptr<DeferredCommands> deferred)
    : Object(Kind),
      context(&c),
      device(&d),
      sub_context(c.sub_context_of(&d)),
      name(sub_context.session.new_id()),
      properties(p),
      list(std::move(given)),
      deferred_completions(std::move(deferred)) {
  sub_context.session.watch_queue(name, listener_, profiles());
  cl_int errcode = 0;
  try {
    if (has_hints(list))
      sub_context.session.call<api::FnId::clCreateCommandQueueWithProperties>(
          {name}, as<cl_context>(sub_context.name), as<cl_device_id>(d.name), list.data(), &errcode);
    else
      sub_context.session.call<api::FnId::clCreateCommandQueue>({name}, as<cl_context>(sub_context.name),
                                                                as<cl_device_id>(d.name), p, &errcode);
  } catch (const Failure&) {  // the link has just closed, and there will be no queue
    sub_context.session.forget_queue(name);
    throw;
  }
  const MutexLock lock(c.mutex);
  c.queues.push_back(this);
}

_cl_command_queue::~_cl_command_queue() {
  {
    const MutexLock lock(context->mutex);
    std::erase(context->queues, this);
  }
  sub_context.session.forget_queue(name);
  if (!sub_context.session.alive()) return;
  try {
    sub_context.session.call<api::FnId::clReleaseCommandQueue>({}, as<cl_command_queue>(name));
    sub_context.session.push();
  } catch (const Failure&) {  // nothing is left to release
  }
}

std::vector<Ref<_cl_command_queue>> _cl_context::living_queues() {
  std::vector<Ref<_cl_command_queue>> living;
  const MutexLock lock(mutex);
  for (_cl_command_queue* queue : queues)
    if (try_hold(queue)) living.push_back(Ref<_cl_command_queue>::adopt(queue));
  return living;
}

void _cl_command_queue::note_failure(cl_int code) {
  cl_int none = CL_SUCCESS;
  failure.compare_exchange_strong(none, code);  // the first one is what the others follow from
}

static void raise(std::atomic<uint64_t>& value, uint64_t to) {
  uint64_t before = value.load();
  while (before < to && !value.compare_exchange_weak(before, to)) {
  }
}

void _cl_command_queue::note_end(uint64_t number) { raise(latest_ended, number); }

cl_int _cl_command_queue::wait_for_all() {
  const uint64_t ours = finishes.fetch_add(1) + 1;
  const cl_int code = sub_context.session.finish(name);
  deferred_completions->wait();
  raise(finished, ours);
  if (has_gates_) {  // nothing was behind them
    Gates none;
    {
      const MutexLock lock(gates_mutex_);
      none.swap(gates_);
      barrier_.clear();
      has_gates_ = false;
    }
    let_go(none);
  }
  return code;
}

void _cl_command_queue::add_gates(bool everything, Gates& gates) {
  if (!has_gates_) return;
  const bool ordered = !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const MutexLock lock(gates_mutex_);
  add_closed(gates, ordered || everything ? gates_ : barrier_);
}

void _cl_command_queue::note_gates(const Gates& gates, bool barrier) {
  if (gates.empty()) return;
  const MutexLock lock(gates_mutex_);
  const auto is_open = [](const std::shared_ptr<Gate>& gate) { return gate->is_open(); };
  std::erase_if(gates_, is_open);
  std::erase_if(barrier_, is_open);
  add_closed(gates_, gates);
  if (barrier) add_closed(barrier_, gates);
  has_gates_ = !gates_.empty();
}

bool _cl_command_queue::is_behind_gates() {
  Gates closed;
  add_gates(true, closed);
  return !closed.empty();
}

cl_int _cl_command_queue::finish() {
  const cl_int code = wait_for_all();
  const cl_int earlier = take_failure();
  return earlier != CL_SUCCESS ? earlier : code;
}
