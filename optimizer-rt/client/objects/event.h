// An event: a command's, or the program's own (clCreateUserEvent), or one of ours between two sub-contexts.
//
// A command's event has a name at the sub-context of its queue. Elsewhere, and for user events everywhere, it has
// copies: user events of the executor, set when this one ends. Its status is known here only after the executor was
// asked to tell it (subscribe), or what it waits for was; from then on it is a word to look at.
//
// Invariant: `status` goes down only, and complete() happens once.
// Thread safety: any thread; complete() also from the link's handlers. `mutex` is never held while something is sent.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "optimizer-rt/client/base/object.h"
#include "optimizer-rt/client/objects/gate.h"
#include "optimizer-rt/client/objects/pending_host_writes.h"
#include "optimizer-rt/client/session/listeners.h"
#include "optimizer-rt/client/session/session.h"
#include "traces/base/mutex.h"

struct _cl_context;
struct _cl_command_queue;

namespace gt::virt {
struct SubContext;
}

struct _cl_event : gt::virt::Object {
  static constexpr auto Kind = gt::virt::Type::Event;
  static constexpr cl_int Invalid = CL_INVALID_EVENT;

  // A command's; watched by the sub-context's session from now on.
  _cl_event(_cl_command_queue& queue, cl_command_type type);
  explicit _cl_event(_cl_context& context);  // a user event
  _cl_event(_cl_context& context, gt::virt::SubContext& sub_context);  // of a command of ours
  ~_cl_event();

  bool is_user() const { return !sub_context; }
  bool ended() const { return status.load(std::memory_order_acquire) <= CL_COMPLETE; }
  // A clFinish that began when its command had been sent is over: it has ended, though that may not be known here yet.
  bool ended_by_finish() const;
  void note_sent();  // its command has been. By who sent it, before anybody else knows the event
  // What the program is told. The first time it asks the executor, now and to tell when it ends. Flushes.
  cl_int current_status();
  // The same after the executor has answered; below 0 also if it has refused the command.
  cl_int look_now();
  // `waits`: the caller goes on to wait().
  void subscribe(bool waits = false);
  // The executor tells it without being asked. Before anybody else knows the event.
  void auto_notify() { telling_ = Telling::Auto; }
  // Until it has ended. Gives the status.
  cl_int wait();
  void complete(cl_int with_status, int64_t start, int64_t end);

  // Its name among the events of a sub-context; 0: it has completed, nothing to wait for.
  gt::virt::ObjectId name_at(gt::virt::SubContext& sub_context);

  using Callback = std::function<void(cl_int status)>;
  void then(Callback callback);  // on the thread for work; must not block. Somebody must subscribe()
  void call_back(cl_int when, Callback callback);  // on the thread for callbacks

  // Lives until it has ended, whatever the program releases.
  void keep();

  // What is done when it completes, before anybody hears of it: bytes find their places. Set before it can end.
  std::function<void()> on_completion;
  // What must have ended here before it may. Set before it can end; then of complete() alone.
  std::vector<gt::virt::Ref<_cl_event>> completes_after;
  // It brings bytes over a link, or comes after what does: it may end here later than at its sub-context. Set as above.
  bool deferred = false;
  // It brings bytes there: pending_host_writes() knows. Before the command is sent.
  void writes_host(const void* begin, size_t bytes);
  gt::virt::HostWriter host_writer() const;
  bool writes_host_memory = false;  // it does
  gt::virt::Gates gates;  // a user event's own; a command's. Set before anybody else knows the event

  gt::virt::Ref<_cl_context> context;
  gt::virt::Ref<_cl_command_queue> queue;  // none: a user event, or of a command of ours
  const cl_command_type command;
  gt::virt::SubContext* const sub_context;  // nullptr: a user event
  gt::virt::ObjectId name = 0;
  uint64_t number = 0;  // in its queue
  static constexpr uint64_t NotSent = ~uint64_t{0};
  uint64_t finishes_before = NotSent;  // of its queue, that had begun when it had been sent
  std::atomic<cl_int> status;
  int64_t queued_ns = 0, submit_ns = 0, start_ns = 0, end_ns = 0;

 private:
  class Listener final : public gt::virt::EventListener {
   public:
    explicit Listener(_cl_event& event) : event_(event) {}
    bool try_hold() override { return gt::virt::try_hold(&event_); }
    void unhold() override { gt::virt::unhold(&event_); }
    void complete(cl_int status, int64_t start, int64_t end) override { event_.complete(status, start, end); }

   private:
    _cl_event& event_;
  };
  struct Registered {
    cl_int when;
    Callback callback;
  };
  bool defer(int64_t start, int64_t end);
  void run_callbacks(std::vector<Registered> callbacks, cl_int with_status);
  bool is_overtaken();
  cl_int look();

  Listener listener_{*this};                         // to the sub-context's session
  enum class Telling : uint8_t { No, Auto, Asked };  // Asked: and the request is on its way
  std::atomic<Telling> telling_{Telling::No};
  std::atomic<uint64_t> looked_after_{0};  // the later event after whose end it was asked about
  gt::Mutex mutex_;
  gt::virt::Ref<_cl_event> self_ GT_GUARDED_BY(mutex_);  // while somebody depends on its end
  std::vector<Registered> registered_ GT_GUARDED_BY(mutex_);
  std::vector<Callback> continuations_ GT_GUARDED_BY(mutex_);
  std::vector<std::pair<gt::virt::SubContext*, gt::virt::ObjectId>> copies_ GT_GUARDED_BY(mutex_);
};

namespace gt::virt {

// A wait list as the specification checks it.
std::vector<_cl_event*> checked_list(cl_uint n, const cl_event* list, cl_int when_wrong);

// When all have ended; the worst of their states. On the thread for work.
void after_all(const std::vector<Ref<_cl_event>>& events, std::function<void(cl_int)> then);

}  // namespace gt::virt
