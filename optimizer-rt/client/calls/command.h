// One command on its way: what every clEnqueue* checks, waits for and gives.
//
//   Command c(queue, CL_COMMAND_COPY_BUFFER, n, list, event);      the queue, the wait list
//   c.reads(*from); c.writes(*to);                                 contents, where they are needed
//   c.call<FnId::clEnqueueCopyBuffer>(...);                        or another message that takes waits() and event()
//   return c.sent();
//
// In a context with several sub-contexts the residency is locked from construction until sent(): contents move in the
// order of the commands.
// Thread safety: none; on the stack of one call.
#pragma once

#include <mutex>
#include <vector>

#include "optimizer-rt/client/calls/shared_use.h"
#include "optimizer-rt/client/memory/mem.h"
#include "optimizer-rt/client/objects/event.h"
#include "optimizer-rt/client/objects/queue.h"
#include "traces/base/mutex.h"

namespace gt::virt {

class Command {
 public:
  Command(cl_command_queue queue, cl_command_type type, cl_uint n, const cl_event* list, cl_event* out);

  // A blocking call refuses events that have failed.
  void block();
  // The object is to be valid at the queue's sub-context. Throws CL_INVALID_CONTEXT when it is another context's.
  void reads(_cl_mem& mem);
  void writes(_cl_mem& mem);      // parts of it: what it held before counts, too
  void overwrites(_cl_mem& mem);  // all of it
  // What it does with memory that the program uses as it likes. Before waits().
  SharedUse& shared() { return shared_; }
  // User events without a status that it is behind (objects/gate.h).
  const Gates& gates();
  // It is behind these, too: what it waits for by something else than events. Before waits().
  void is_behind(const Gates& more) { add_closed(gates_, more); }
  // It needs an event even if the program does not.
  _cl_event& want_event();

  _cl_command_queue& queue() { return queue_; }
  SubContext& sub_context() { return queue_.sub_context; }
  Session& session() { return queue_.sub_context.session; }
  ObjectId event() const { return event_ ? event_->name : 0; }
  const Ids& waits();  // names at the sub-context
  // What must have landed before the program hears of its end, or this side does its work.
  const std::vector<Ref<_cl_event>>& after() const { return event_ ? event_->completes_after : after_; }
  // It brings bytes there, and the call returns before.
  void writes_host(const void* host, size_t bytes);
  // Its bytes are taken from there: are some still on their way?
  bool takes_coming(const void* host, size_t bytes);
  ObjectId name(_cl_mem& mem) { return mem.at(sub_context()); }

  // The function F up to its wait list, in names.
  template <api::FnId F, class... A>
  void call(const A&... arguments) {
    const Ids& ids = waits();
    cl_event wanted = nullptr;
    session().call<F>({0, event()}, arguments..., static_cast<cl_uint>(ids.size()), as_events(ids),
                      event() ? &wanted : nullptr);
  }

  // It has been sent. Waits until the driver has taken or refused it; throws the error with which it was refused.
  // REQUIRES: want_event() before.
  void require_taken();
  // It has been sent: gives the program its event.
  cl_int sent();
  // It has been sent, and the program waits for its end.
  cl_int sent_and_wait();

 private:
  enum class Access { Read, Write, Overwrite };
  void touch(_cl_mem& mem, Access access);
  void begin_shared();
  void wait_for(_cl_event& event);
  void written();
  bool waits_for_all() const;

  _cl_command_queue& queue_;
  const cl_command_type type_;
  cl_event* const out_;
  std::vector<_cl_event*> list_;
  std::unique_lock<Mutex> residency_;  // held or not: what the analysis cannot follow
  Gates gates_;
  bool gates_known_ = false;
  Ids waits_;
  bool named_ = false;
  std::vector<Ref<_cl_event>> moves_;
  std::vector<Ref<_cl_mem>> written_;
  std::vector<Ref<_cl_event>> after_;  // what must have landed before the program hears of its end
  bool waits_for_late_ = false;        // by its wait list, or as a barrier: what follows it comes after that, too
  Ref<_cl_event> event_;
  SharedUse shared_;
};

}  // namespace gt::virt
