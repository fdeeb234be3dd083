// A command queue: it is at one sub-context, that of its device.
//
// Errors that only the executor could see (Failed) are kept and returned once, by the next call that synchronizes.
// Thread safety: any thread: what changes is atomic, deferred_completions are safe by themselves.
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "optimizer-rt/client/base/object.h"
#include "optimizer-rt/client/objects/context.h"
#include "optimizer-rt/client/objects/gate.h"
#include "optimizer-rt/client/session/listeners.h"
#include "traces/base/mutex.h"

namespace gt::virt {

// Commands of a queue whose bytes are still on their way, by their events, which know their queue: DeferredCompletions
// keeps them.
class DeferredCommands {
 public:
  virtual ~DeferredCommands() = default;
  // What a new command comes after: in an out-of-order queue only if it waits for `everything` before it, or is behind
  // a barrier that did. Appended to `after`.
  virtual void before(bool everything, std::vector<Ref<_cl_event>>& after) = 0;
  // The end of a command that was sent is deferred itself. `barrier`: later ones come after it.
  virtual void add(const Ref<_cl_event>& event, bool barrier) = 0;
  virtual void remove(const _cl_event& event) = 0;  // it has ended
  // Until nothing is deferred any more.
  virtual void wait() = 0;
};

}  // namespace gt::virt

struct _cl_command_queue : gt::virt::Object {
  static constexpr auto Kind = gt::virt::Type::Queue;
  static constexpr cl_int Invalid = CL_INVALID_COMMAND_QUEUE;

  _cl_command_queue(_cl_context& context, _cl_device_id& device, cl_command_queue_properties properties,
                    std::vector<cl_queue_properties> list, std::unique_ptr<gt::virt::DeferredCommands> deferred);
  ~_cl_command_queue();

  bool profiles() const { return properties & CL_QUEUE_PROFILING_ENABLE; }
  uint64_t next_number() { return numbers.fetch_add(1) + 1; }
  cl_int finish();
  cl_int wait_for_all();  // the same, but the error of an earlier call stays to be told
  void note_failure(cl_int code);
  void note_end(uint64_t number);
  // Appends the gates that a command is behind which is enqueued now. `everything`: it waits for all before it. Cost: a
  // load where there are none.
  void add_gates(bool everything, gt::virt::Gates& gates);
  // A command with these gates has been sent. `barrier`: what follows is behind them.
  void note_gates(const gt::virt::Gates& gates, bool barrier);
  bool is_behind_gates();
  cl_int take_failure() { return failure.exchange(CL_SUCCESS); }

  const gt::virt::Ref<_cl_context> context;
  const gt::virt::Ref<_cl_device_id> device;
  gt::virt::SubContext& sub_context;
  const gt::virt::ObjectId name;
  std::atomic<cl_command_queue_properties> properties;
  const std::vector<cl_queue_properties> list;  // as the program gave it, with its final 0; empty: none
  std::atomic<uint64_t> numbers{0};             // of events, as they were made: some have not been sent yet
  std::atomic<uint64_t> latest_ended{0};        // the last one of which it is known
  // How many calls of finish() have begun, and the latest of them that is over. It waited for what had been sent when
  // it began, whatever number that has.
  std::atomic<uint64_t> finishes{0}, finished{0};
  std::atomic<cl_int> failure{CL_SUCCESS};
  const std::unique_ptr<gt::virt::DeferredCommands> deferred_completions;

 private:
  class Listener final : public gt::virt::QueueListener {
   public:
    explicit Listener(_cl_command_queue& queue) : queue_(queue) {}
    bool try_hold() override { return gt::virt::try_hold(&queue_); }
    void unhold() override { gt::virt::unhold(&queue_); }
    void note_failure(cl_int code) override { queue_.note_failure(code); }

   private:
    _cl_command_queue& queue_;
  };
  std::atomic<bool> has_gates_{false};
  gt::Mutex gates_mutex_;
  gt::virt::Gates gates_ GT_GUARDED_BY(gates_mutex_);    // of all commands
  gt::virt::Gates barrier_ GT_GUARDED_BY(gates_mutex_);  // of barriers
  Listener listener_{*this};  // to the sub-context's session
};
