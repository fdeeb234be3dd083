#include "optimizer-rt/client/calls/command.h"

#include <unistd.h>

#include <algorithm>

#include "optimizer-rt/client/base/configuration.h"
#include "optimizer-rt/client/objects/pending_host_writes.h"
#include "optimizer-rt/client/transfer/migration.h"

namespace gt::virt {
namespace {

// For GTRACE_SYNC_ERRORS: a command that waits for something that the program does later would never end.
cl_int wait_for_a_while(_cl_event& event) {
  event.subscribe();
  for (int ms = 0; ms < 2000 && !event.ended(); ++ms) ::usleep(1000);
  return event.status;
}

}  // namespace

Command::Command(cl_command_queue queue, cl_command_type type, cl_uint n, const cl_event* list, cl_event* out)
    : queue_(check(queue)), type_(type), out_(out), list_(checked_list(n, list, CL_INVALID_EVENT_WAIT_LIST)) {
  for (const _cl_event* e : list_) require(e->context.get() == queue_.context.get(), CL_INVALID_CONTEXT);
  require(session().alive(), CL_DEVICE_NOT_AVAILABLE);
  for (_cl_event* e : list_) {
    if (e->deferred && !e->ended()) after_.emplace_back(e);
  }
  waits_for_late_ = !after_.empty();
  queue_.deferred_completions->before(waits_for_all(), after_);
  waits_for_late_ = waits_for_late_ || (waits_for_all() && !after_.empty());
}

bool Command::waits_for_all() const {
  return list_.empty() && (type_ == CL_COMMAND_MARKER || type_ == CL_COMMAND_BARRIER);
}

void Command::block() {
  for (const _cl_event* e : list_) {
    require(e->status.load() >= 0, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  }
}

void Command::reads(_cl_mem& mem) { touch(mem, Access::Read); }
void Command::writes(_cl_mem& mem) { touch(mem, Access::Write); }
void Command::overwrites(_cl_mem& mem) { touch(mem, Access::Overwrite); }

void Command::touch(_cl_mem& mem, Access access) {
  _cl_context& context = *queue_.context;
  require(mem.context.get() == &context, CL_INVALID_CONTEXT);
  shared_.uses(mem, access != Access::Read);
  if (context.one_sub_context()) return;
  if (!residency_) residency_ = std::unique_lock(context.residency);
  _cl_mem& root = mem.root();
  if (access != Access::Overwrite || mem.parent) migrate(root, sub_context());
  if (const Ref<_cl_event>& move = root.residency.ready[sub_context().index]) moves_.push_back(move);
  if (access != Access::Read) written_.emplace_back(&root);
}

_cl_event& Command::want_event() {
  if (!event_) {
    event_ = make<_cl_event>(queue_, type_);
    event_->deferred = !after_.empty();
    event_->completes_after = std::move(after_);
    event_->gates = gates_;
  }
  return *event_;
}

const Gates& Command::gates() {
  if (gates_known_) return gates_;
  gates_known_ = true;
  queue_.add_gates(waits_for_all(), gates_);
  for (const _cl_event* e : list_)
    if (!e->ended()) add_closed(gates_, e->gates);
  return gates_;
}

void Command::begin_shared() {
  Ref<_cl_event> event;
  if (shared_.will_write(sub_context())) event = Ref<_cl_event>(&want_event());
  shared_.begin(std::move(event), gates(), moves_);
}

const Ids& Command::waits() {
  if (named_) return waits_;
  named_ = true;
  if (!shared_.empty()) begin_shared();
  for (_cl_event* e : list_) wait_for(*e);
  for (const Ref<_cl_event>& e : moves_) wait_for(*e);
  if (out_ || residency_ || waits_for_late_ || sync_errors()) want_event();
  gates();
  if (event_) event_->gates = gates_;  // it may end as soon as its command has been sent
  return waits_;
}

void Command::writes_host(const void* host, size_t bytes) { want_event().writes_host(host, bytes); }

bool Command::takes_coming(const void* host, size_t bytes) {
  if (!pending_host_writes().overlap(host, bytes)) return false;
  want_event();
  return true;
}

void Command::wait_for(_cl_event& event) {
  if (const ObjectId id = event.name_at(sub_context())) waits_.push_back(id);
}

void Command::written() {
  for (const Ref<_cl_mem>& mem : written_) {
    mem->residency.add_writer(event_);
    mem->residency.written_at(sub_context().index);
  }
}

void Command::require_taken() {
  const cl_int status = want_event().look_now();
  if (status >= 0 || status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) return;
  const cl_int failure = queue_.take_failure();
  if (failure != CL_SUCCESS && failure != status) queue_.note_failure(failure);  // an earlier command's
  throw Failure{status};
}

cl_int Command::sent() {
  queue_.note_gates(gates(), type_ == CL_COMMAND_BARRIER);
  if (event_) event_->note_sent();
  if (!shared_.empty()) shared_.end();
  written();
  if (residency_) residency_.unlock();
  if (event_ && event_->deferred) queue_.deferred_completions->add(event_, type_ == CL_COMMAND_BARRIER);
  if (sync_errors()) {
    const cl_int status = wait_for_a_while(want_event());
    const cl_int failure = queue_.take_failure();
    require(status >= 0, status);
    require(failure == CL_SUCCESS, failure);
  }
  if (out_) *out_ = event_.give();
  return CL_SUCCESS;
}

cl_int Command::sent_and_wait() {
  Ref<_cl_event> event = event_;
  const cl_int code = sent();
  if (code != CL_SUCCESS) return code;
  const cl_int status = event->wait();
  const cl_int failure = queue_.take_failure();
  return status < 0 ? status : failure;
}

}  // namespace gt::virt
