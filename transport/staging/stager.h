// Transfers of pageable memory at nearly the speed of pinned memory, for one device in one context.
//
// Three ways, by size:
//   one chunk      copied into a pinned chunk inside the call; the command itself goes into the program's queue
//   pipelined      run by the calling thread (blocking): behind a placeholder in the program's queue
//                  (queue_placeholder.h), or, when no other thread can come in between, as commands of that queue
//   in background  behind a placeholder, run by an agent's thread (not blocking)
// To the program each is one command: its place in the queue, its wait list, its event, its errors. Whenever something
// is not at hand (no free chunk, no memory, a driver that refuses, pages that the program's own handler has to make
// present) the answer is "not taken", and the program's own call does the work: nothing here waits for anybody else's
// transfer, so nothing can deadlock that did not before.
//
// Pinned memory and queues are made when first needed and hold references to the context until close().
// Thread safety: all functions from any thread, but open(); held() beside a first transfer may be one late. noexcept,
// no allocation: injected code uses it.
#pragma once

#include <atomic>

#include "traces/base/mutex.h"
#include "transport/staging/agent.h"
#include "transport/staging/pipeline.h"
#include "transport/staging/queue_placeholder.h"
#include "transport/staging/small_chunks.h"

namespace gt::staging {

struct Request {
  QueueFacts queue;
  HostTransfer transfer;
  bool blocking = true;
  cl_uint waits = 0;
  const cl_event* wait_list = nullptr;
  cl_event* event = nullptr;  // as the program gave it; may be nullptr
};

// What the program is not to see of the event of a transfer behind a placeholder: it is a marker, and began late.
struct EventFacts {
  cl_event event = nullptr;
  Way way = Way::ToDevice;
  HostTransfer::Shape shape = HostTransfer::Shape::Range;
  cl_ulong start_ns = 0;  // 0: not over yet, or nobody may ask
  cl_int error = CL_SUCCESS;  // why it failed: the marker's own status says only that something did
};

// What a transfer took, as far as its own work can be told from its waiting for a queue: Pipeline::Outcome::moving_ns;
// of one that is one chunk, what copying took. Nothing is told of a transfer that was not wholly staged.
struct Spent {
  cl_device_id device = nullptr;
  Way way = Way::ToDevice;
  HostTransfer::Shape shape = HostTransfer::Shape::Range;
  size_t bytes = 0;
  uint64_t ns = 0;
  bool copying_only = false;
  bool fresh = false;  // HostTransfer::fresh
};

class Stager final : private Agent::Owner {
 public:
  constexpr Stager() = default;

  // `publisher` (may be nullptr) is called for each event that the program gets from a placeholder: when it is made,
  // and again, before it completes, with its start or its error. `meter` (likewise) is called after each transfer, on
  // the thread that moved it. `agents`: two, one for each way. All must outlive the stager. REQUIRES: is_closed(), and
  // nobody else opens it.
  void open(const ClFunctions& cl, cl_context context, cl_device_id device, CopyThreads& copy_threads, Agent* agents,
            void (*publisher)(const EventFacts&), void (*meter)(const Spent&) = nullptr) noexcept;
  // Lets go of everything; what still runs does so when it ends.
  void close() noexcept;

  bool serves(cl_context context, cl_device_id device) const noexcept {
    return serves_context(context) && device_ == device;
  }
  bool serves_context(cl_context context) const noexcept {
    return context_.load(std::memory_order_acquire) == context;
  }
  bool is_closed() const noexcept { return torn_down_.load(std::memory_order_acquire); }
  // What it holds in the context, apart from commands under way.
  struct Held {
    unsigned buffers = 0, queues = 0;
  };
  Held held() noexcept;

  // True: done (blocking) or under way, with the result in `*error`. False: not taken.
  bool transfer(const Request& request, cl_int* error) noexcept;
  // Of a memory object that no queue of the program's uses yet. True: done.
  bool transfer_alone(const HostTransfer& transfer) noexcept;

 private:
  class Use;
  static constexpr size_t Callers = 2;  // blocking transfers at a time
  struct PipelineSlot {
    std::atomic<bool> taken{false};
    bool refused = false;
    Pipeline pipeline;
  };

  bool begin() noexcept;
  void end() noexcept;
  void tear_down() noexcept;
  bool open_small() noexcept;
  bool has_placeholders() noexcept;
  bool make_ready(PipelineSlot& slot) noexcept;
  PipelineSlot* take_slot() noexcept;

  bool by_chunk(const Request& request, cl_int* error) noexcept;
  bool by_pipeline(const Request& request, cl_int* error) noexcept;
  bool run_behind_placeholder(Pipeline& pipeline, const Request& request, cl_int* error) noexcept;
  bool run_in_queue(Pipeline& pipeline, const Request& request, cl_int* error) noexcept;
  bool make_background_ready(Way way) noexcept;
  bool by_agent(const Request& request, cl_int* error) noexcept;
  bool keep(const HostTransfer& transfer) noexcept;
  void let_go(const HostTransfer& transfer) noexcept;
  void run_in_background(const Agent::Job& job) noexcept override;
  void publish(const Request& request, cl_event event) noexcept;
  Pipeline::Outcome run(Pipeline& pipeline, const Pipeline::Run& what) noexcept;
  void tell(const HostTransfer& transfer, uint64_t ns, bool copying_only) noexcept;
  void publish_outcome(const HostTransfer& transfer, cl_event event, const Pipeline::Outcome& outcome) noexcept;

  const ClFunctions* cl_ = nullptr;
  std::atomic<cl_context> context_{nullptr};  // nullptr: closed
  cl_device_id device_ = nullptr;
  CopyThreads* copy_threads_ = nullptr;
  Agent* agents_ = nullptr;
  void (*publish_)(const EventFacts&) = nullptr;
  void (*meter_)(const Spent&) = nullptr;

  std::atomic<unsigned> users_{0};
  std::atomic<bool> closing_{true}, torn_down_{true};
  Mutex mutex_;  // for opening
  bool small_refused_ GT_GUARDED_BY(mutex_) = false;
  enum class Placeholders : uint8_t { Untried, Work, Fail };
  std::atomic<Placeholders> placeholders_{Placeholders::Untried};
  SmallChunks small_;
  PipelineSlot slots_[Callers];
  PipelineSlot background_[2];  // by way: the agents'
};

}  // namespace gt::staging
