// The client's side of one link: what is said to an executor and heard from it.
//
// A session is never destroyed: threads and static destructors of the program may still come when the process ends.
// When its link closes (or in a child of fork()), waiting calls return, its events end with CL_DEVICE_NOT_AVAILABLE,
// and so does whatever is asked of it then: send() and the like throw that Failure.
//
// Thread safety: any thread. Handlers of the link take only the locks of this class and of listeners: none of them is
// held while something is sent.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "optimizer-rt/client/base/object.h"
#include "optimizer-rt/client/session/bounce_buffer.h"
#include "optimizer-rt/client/session/connection.h"
#include "optimizer-rt/client/session/executor_clock.h"
#include "optimizer-rt/client/session/listeners.h"
#include "optimizer-rt/client/session/packed_reads.h"
#include "optimizer-rt/client/session/registered_memory.h"
#include "traces/api/encode.h"
#include "traces/base/mutex.h"
#include "transport/link/base/link.h"
#include "transport/protocol/codec.h"
#include "transport/protocol/fragments.h"
#include "transport/protocol/messages.h"

namespace gt::virt {

class BulkSender;

using wire::Ids;
using wire::ObjectId;

// A name in place of a handle, for encoding.
template <class Handle>
Handle as(ObjectId id) {
  return reinterpret_cast<Handle>(id);
}
inline const cl_event* as_events(const Ids& ids) {
  static_assert(sizeof(cl_event) == sizeof(ObjectId));
  return ids.empty() ? nullptr : reinterpret_cast<const cl_event*>(ids.data());
}

// What names the objects that a call makes.
struct Made {
  ObjectId result = 0, event = 0;
};

class Session final : public wire::LinkHandler {
 public:
  explicit Session(Connection connection);
  ~Session();
  // Starts the link, asks what is there, sets the clocks.
  Result<wire::Surveyed> begin();

  bool alive() const { return alive_.load(std::memory_order_acquire); }
  // The same, but sooner: the link may have ended without all of us knowing yet.
  bool in_reach() const { return alive() && !link_->is_closed(); }
  // --- When the process ends. The program may go on to use it: in exit handlers, destructors, other threads.
  // `over` runs when all commands under way are (or cannot be any more), on any thread. False: there are none.
  bool finish_all(std::function<void()> over);
  void leave();   // the end of the connection is that of the process
  void forget();  // in a child of fork(): the link belongs to the parent
  wire::Link& link() { return *link_; }
  BulkSender& bulk_sender() { return *bulk_sender_; }
  // The executor is another process of this node: it can map memory of ours.
  bool shares_memory() const { return shares_memory_; }
  RegisteredMemory& registered_memory() { return registered_memory_; }
  BounceBuffer& bounce_buffer() { return bounce_buffer_; }
  PackedReads& packed_reads() { return packed_reads_; }
  // How chunks of reads may come (wire::Read::packing).
  chunks::Packing read_packing() const { return read_packing_; }
  bool in_process() const { return behind_ != nullptr; }  // the executor is
  const std::string& url() const { return url_; }         // by which it is reached, when it is not
  // REQUIRES: in_process().
  const LocalExecutor& local() const { return *behind_; }
  // The native handle of a name whose message may still be on its way; nullptr: it could not be made.
  // REQUIRES: in_process().
  template <class Handle>
  Handle native(api::ObjectKind kind, ObjectId name) {
    return static_cast<Handle>(find_native(kind, name));
  }

  ObjectId new_id(size_t consecutive = 1) { return next_id_.fetch_add(consecutive); }
  uint32_t new_transfer() { return next_transfer_.fetch_add(1); }

  // `soon`: may wait for what follows.
  template <class Message>
  void send(const Message& message, bool soon = false);
  void push();

  // One OpenCL call with names in place of handles. Output parameters: any pointer stands for "wanted".
  template <api::FnId F, api::Contents C = api::Contents::Full, class... A>
  void call(Made made, const A&... arguments) {
    static_assert(sizeof...(A) == api::ParamCount<F>);
    api::VectorWriter w;
    api::encode_inputs<F, C>(w, arguments...);
    send(wire::Call{api::number(F), 0, made.result, made.event, w.view()}, true);
  }
  // The same, and waits for the encoded outputs: not in a handler of the link.
  template <api::FnId F, api::Contents C = api::Contents::Full, class... A>
  Bytes ask(Made made, const A&... arguments) {
    api::VectorWriter w;
    api::encode_inputs<F, C>(w, arguments...);
    return ask_call(wire::Call{api::number(F), 0, made.result, made.event, w.view()});
  }
  wire::Surveyed discover(ObjectId sub_device);
  cl_int finish(ObjectId queue);
  cl_int update(wire::Update& message);  // of commands in a command buffer; waits for the answer
  // `waits`: the caller goes on to help the link.
  void subscribe(ObjectId event, bool waits) { send(wire::Subscribe{event}, waits && until_help()); }
  // Has a command ended? As far as can be seen without asking another process.
  bool sees_end(ObjectId event) const;

  using OnBuilt = std::function<void(const wire::Built&)>;
  void build(wire::Build& build, OnBuilt then);  // `then` runs on the thread for work; not at all if this throws
  // The same; when the link closes, the answers say CL_DEVICE_NOT_AVAILABLE.
  void invite(wire::Invite& invite, std::function<void(const wire::Invited&)> then);
  void join(wire::Join& join, std::function<void(const wire::Joined&)> then);

  // --- Where completions and failures go, by name. Raw pointers: gone before the object is. ---
  void watch_event(ObjectId event, EventListener& listener);
  void forget_event(ObjectId event);
  void watch_queue(ObjectId queue, QueueListener& listener, bool profiles);
  void forget_queue(ObjectId queue);

  // Bytes of an inline read, by its event: handed to `take` when they come, by a handler of the link, which must not
  // wait. If the link closes or the event is forgotten before, `take` goes without having been called.
  using TakeData = std::function<void(ByteView)>;
  void expect_data(ObjectId event, TakeData take);

  // --- LinkHandler ---
  void on_frame(ByteView frame) override;
  void on_put(wire::Notice notice, size_t bytes) override;
  void on_closed(const Status& why) override;

 private:
  // The whole frame of an answer; none: the link closed.
  using OnReply = std::function<void(std::optional<ByteView>)>;
  wire::ReplyId expect(OnReply then);
  template <class Answer, class Message>
  void ask_later(Message& message, std::function<void(const Answer&)> then);
  template <class Message, class Take>
  void ask_frame(Message& message, Take take);
  template <class Message>
  cl_int ask_code(Message& message, cl_int otherwise);
  Bytes ask_call(wire::Call call);
  void answered(wire::ReplyId id, ByteView frame);
  void completed(const wire::Completion& c);
  void tell(const wire::Completion& c);
  void failed(const wire::Failed& f);
  void take_data(const wire::Data& data);
  void set_clock();
  void renew_clock();
  void take_clock(ByteView pong);
  void lose();
  // Of a message that is followed by Link::help(): held back inside the process, where help() does what it asks for.
  bool until_help() const { return in_process(); }
  Ref<EventListener> find_event(ObjectId id);
  void settle();  // what has been sent is taken in; for who then looks at local()
  void* find_native(api::ObjectKind kind, ObjectId name);
  cl_int finish_here(ObjectId queue);
  void send_bytes(ByteView message, bool soon);
  void heard(ByteView message);

  static constexpr size_t LargestMessage = size_t{1} << 30;

  std::unique_ptr<wire::Link> link_;
  std::shared_ptr<LocalExecutor> behind_;
  const std::string url_;
  const ChunkNaming naming_;
  const chunks::Packing packing_;
  chunks::Packing read_packing_;
  const std::unique_ptr<BulkSender> bulk_sender_;
  PackedReads packed_reads_;
  RegisteredMemory registered_memory_;
  BounceBuffer bounce_buffer_;
  bool shares_memory_ = false;
  std::atomic<bool> alive_{true}, forgotten_{false}, leaves_{false};
  std::atomic<ObjectId> next_id_{1};
  wire::FragmentNumbers fragments_{0};
  wire::Assembler assembler_{LargestMessage};  // only touched by on_frame(), which is called by one at a time
  std::atomic<uint32_t> next_transfer_{1};
  ExecutorClock clock_;
  static constexpr int64_t NotTimed = INT64_MAX, ClockInterval_ns = 1'000'000'000;
  std::atomic<int64_t> clock_due_ns_{NotTimed};  // when it is to be asked again

  Mutex mutex_;
  wire::ReplyId next_reply_ GT_GUARDED_BY(mutex_) = 1;
  std::unordered_map<wire::ReplyId, OnReply> replies_ GT_GUARDED_BY(mutex_);
  std::unordered_map<ObjectId, EventListener*> events_ GT_GUARDED_BY(mutex_);
  std::unordered_map<ObjectId, QueueListener*> queues_ GT_GUARDED_BY(mutex_);
  std::unordered_map<ObjectId, TakeData> data_ GT_GUARDED_BY(mutex_);
};

template <class Message>
void Session::send(const Message& message, bool soon) {
  Bytes frame;  // not kept by thread: static destructors of the program still send
  wire::encode(message, frame);
  send_bytes(frame, soon);
}

}  // namespace gt::virt
