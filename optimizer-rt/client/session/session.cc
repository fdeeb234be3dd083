#include "optimizer-rt/client/session/session.h"

#include <unistd.h>

#include <utility>
#include <vector>

#include "optimizer-rt/client/base/configuration.h"
#include "optimizer-rt/client/base/latch.h"
#include "optimizer-rt/client/base/losses.h"
#include "optimizer-rt/client/base/serial_thread.h"
#include "optimizer-rt/client/session/bulk_sender.h"
#include "optimizer-rt/client/session/local_executor.h"
#include "traces/api/decode.h"
#include "traces/base/clock.h"

namespace gt::virt {
namespace {

// Every byte, whatever interrupts: it is the program's output.
void print(ByteView text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n < 0 && errno != EINTR) return;
    if (n > 0) text = text.subspan(static_cast<size_t>(n));
  }
}

}  // namespace

Session::Session(Connection connection)
    : link_(std::move(connection.link)),
      behind_(std::move(connection.behind)),
      url_(std::move(connection.url)),
      naming_(connection.naming),
      packing_(connection.packing),
      bulk_sender_(std::make_unique<BulkSender>()) {}

Session::~Session() = default;

Result<wire::Surveyed> Session::begin() {
  const Status started = link_->start(*this);
  if (!started.ok()) return started;
  wire::Surveyed surveyed;
  try {
    surveyed = discover(0);
    set_clock();
  } catch (const Failure&) {
    return Status(Kind::Disconnected, "the connection was closed");
  }
  shares_memory_ = !in_process() && surveyed.inbox_slots > 0 && link_->view({surveyed.inbox_segment, 0}, 1);
  if (shares_memory_)
    bounce_buffer_.open(link_->view({surveyed.ring_segment, 0}, surveyed.ring_bytes), surveyed.ring_bytes);
  if (!shares_memory_ && !in_process()) {
    bulk_sender_->open_names(surveyed.chunks, naming_, [this](const wire::Recall& recall) { send(recall); });
    if (surveyed.chunks.forms & bit_of(wire::PieceForm::Packed) && chunks::PiecePacker::available().ok()) {
      bulk_sender_->open_packing(surveyed.chunks, packing_);
      read_packing_ = packing_;
    }
  }
  bulk_sender_->open(*link_, surveyed.inbox_segment, surveyed.inbox_slots, surveyed.slot_bytes);
  return surveyed;
}

wire::Surveyed Session::discover(ObjectId sub_device) {
  wire::Survey message;
  message.device = sub_device;
  message.emulate_usm = emulates_usm();
  wire::Surveyed surveyed;
  bool sound = false;
  ask_frame(message, [&](ByteView frame) { sound = wire::decode(frame, surveyed); });
  require(sound, CL_OUT_OF_RESOURCES);
  return surveyed;
}

void Session::set_clock() {
  constexpr int Exchanges = 5;
  for (int i = 0; i < Exchanges; ++i) {
    wire::Ping ping;
    ping.sent_ns = static_cast<int64_t>(monotonic_ns());
    ask_frame(ping, [&](ByteView frame) { take_clock(frame); });
  }
}

void Session::take_clock(ByteView frame) {
  wire::Pong pong;
  if (wire::decode(frame, pong)) clock_.sample(pong.sent_ns, pong.clock_ns, static_cast<int64_t>(monotonic_ns()));
}

// While there are queues that profile, and with what is sent anyway: an idle connection stays idle, and the answer is
// here before the next command can have ended.
void Session::renew_clock() {
  int64_t due = clock_due_ns_.load(std::memory_order_relaxed);
  if (due == NotTimed) return;
  const auto now = static_cast<int64_t>(monotonic_ns());
  if (now < due || !clock_due_ns_.compare_exchange_strong(due, now + ClockInterval_ns)) return;
  const auto take = [this](std::optional<ByteView> frame) {
    if (frame) take_clock(*frame);
  };
  send(wire::Ping{expect(take), now}, true);
}

void Session::settle() {
  wire::Ping ping;
  ask_frame(ping, [](ByteView) {});
}

void* Session::find_native(api::ObjectKind kind, ObjectId name) {
  if (void* const handle = behind_->native<void*>(kind, name)) return handle;
  settle();
  return behind_->native<void*>(kind, name);
}

bool Session::sees_end(ObjectId event) const {
  const auto native = in_process() ? behind_->native<cl_event>(api::ObjectKind::Event, event) : nullptr;
  return native && behind_->cl().status(native) <= CL_COMPLETE;
}

bool Session::finish_all(std::function<void()> over) {
  if (!alive() || in_process()) return false;  // a driver in this process ends with it, as it does without us
  try {
    wire::Finish all;
    all.reply = expect([over = std::move(over)](std::optional<ByteView>) { over(); });
    try {
      send(all);
    } catch (const Failure&) {  // then the link is lost, and `over` has been told
    }
  } catch (const Failure&) {
    return false;
  }
  return true;
}

void Session::leave() {
  if (in_process()) return;
  leaves_ = true;
  try {
    send(wire::Leave{});
  } catch (const Failure&) {  // it is gone
  }
}

void Session::forget() {
  forgotten_ = true;  // first: the lock may be held for ever by a thread that is not here
  alive_ = false;
}

// --- Sending ---

void Session::send_bytes(ByteView message, bool soon) {
  require(alive(), CL_DEVICE_NOT_AVAILABLE);
  renew_clock();
  if (wire::send_message<wire::FragmentToExecutor>(*link_, fragments_, message, soon).ok()) return;
  lose();
  throw Failure{CL_DEVICE_NOT_AVAILABLE};
}

void Session::push() {
  if (alive()) (void)link_->push().ok();
}

wire::ReplyId Session::expect(OnReply then) {
  const MutexLock lock(mutex_);
  require(alive(), CL_DEVICE_NOT_AVAILABLE);
  if (next_reply_ == 0) next_reply_ = 1;
  const wire::ReplyId id = next_reply_++;
  replies_[id] = std::move(then);
  return id;
}

template <class Message, class Take>
void Session::ask_frame(Message& message, Take take) {
  Latch latch;
  bool came = false;
  message.reply = expect([&](std::optional<ByteView> frame) {
    if (frame) take(*frame);
    came = frame.has_value();
    latch.open();
  });
  Waiting waiting(link_.get());
  try {
    send(message, until_help());
  } catch (const Failure&) {
    bool unanswered = false;
    {
      const MutexLock lock(mutex_);
      unanswered = replies_.erase(message.reply) != 0;
    }
    if (!unanswered) latch.wait(waiting);  // somebody is calling it
    throw;
  }
  latch.wait(waiting);
  require(came, CL_DEVICE_NOT_AVAILABLE);
}

Bytes Session::ask_call(wire::Call call) {
  Bytes outputs;
  ask_frame(call, [&](ByteView frame) {
    wire::Reply reply;
    if (wire::decode(frame, reply)) outputs.assign(reply.outputs.begin(), reply.outputs.end());
  });
  return outputs;
}

// Without a marker, which costs the device 3 us: there is nobody else whom waiting in the driver would keep.
cl_int Session::finish_here(ObjectId queue) {
  settle();
  push();
  return behind_->finish(queue);
}

cl_int Session::finish(ObjectId queue) {
  if (in_process()) return finish_here(queue);
  wire::Finish message;
  message.queue = queue;
  return ask_code(message, CL_SUCCESS);
}

cl_int Session::update(wire::Update& message) { return ask_code(message, CL_OUT_OF_RESOURCES); }

// `otherwise`: the answer has none.
template <class Message>
cl_int Session::ask_code(Message& message, cl_int otherwise) {
  cl_int code = otherwise;
  ask_frame(message, [&](ByteView frame) {
    wire::Reply reply;
    if (wire::decode(frame, reply) && reply.outputs.size() >= sizeof code) {
      std::memcpy(&code, reply.outputs.data(), sizeof code);
    }
  });
  return code;
}

template <class Answer, class Message>
void Session::ask_later(Message& message, std::function<void(const Answer&)> then) {
  message.reply = expect([then = std::move(then)](std::optional<ByteView> frame) {
    Answer answer;
    if (!frame || !wire::decode(*frame, answer)) {
      answer = {};
      answer.code = frame ? CL_OUT_OF_RESOURCES : CL_DEVICE_NOT_AVAILABLE;
    }
    work().post([then, answer = std::move(answer)] { then(answer); });
  });
  try {
    send(message);
  } catch (const Failure&) {
    const MutexLock lock(mutex_);
    if (replies_.erase(message.reply) != 0) throw;  // else `then` has been told
  }
}

void Session::build(wire::Build& message, OnBuilt then) { ask_later<wire::Built>(message, std::move(then)); }
void Session::invite(wire::Invite& message, std::function<void(const wire::Invited&)> then) {
  ask_later<wire::Invited>(message, std::move(then));
}
void Session::join(wire::Join& message, std::function<void(const wire::Joined&)> then) {
  ask_later<wire::Joined>(message, std::move(then));
}

// --- What is watched ---

void Session::watch_event(ObjectId event, EventListener& listener) {
  require(alive(), CL_DEVICE_NOT_AVAILABLE);
  const MutexLock lock(mutex_);
  require(alive(), CL_DEVICE_NOT_AVAILABLE);  // lose() has not yet taken what is watched
  events_[event] = &listener;
}
// Also when the link has closed: lose() may still be looking at what is watched.
void Session::forget_event(ObjectId event) {
  if (forgotten_) return;
  const MutexLock lock(mutex_);
  events_.erase(event);
  data_.erase(event);
}
void Session::watch_queue(ObjectId queue, QueueListener& listener, bool profiles) {
  require(alive(), CL_DEVICE_NOT_AVAILABLE);
  const MutexLock lock(mutex_);
  queues_[queue] = &listener;
  if (profiles) clock_due_ns_ = 0;
}
void Session::forget_queue(ObjectId queue) {
  if (forgotten_) return;
  const MutexLock lock(mutex_);
  queues_.erase(queue);
}
void Session::expect_data(ObjectId event, TakeData take) {
  const MutexLock lock(mutex_);
  data_[event] = std::move(take);
}

Ref<EventListener> Session::find_event(ObjectId id) {
  const MutexLock lock(mutex_);
  const auto it = events_.find(id);
  if (it == events_.end() || !try_hold(it->second)) return {};
  Ref<EventListener> event = Ref<EventListener>::adopt(it->second);
  events_.erase(it);
  return event;
}

// --- Hearing ---

void Session::on_frame(ByteView frame) {
  if (frame.empty()) return;
  if (static_cast<wire::MessageType>(frame[0]) != wire::MessageType::FragmentToClient) return heard(frame);
  Bytes whole;
  if (assembler_.take<wire::FragmentToClient>(frame, whole) && !whole.empty()) heard(whole);
}

void Session::heard(ByteView frame) {
  const auto each = [&](auto message, auto handle) {
    if (wire::decode(frame, message)) handle(message);
  };
  switch (static_cast<wire::MessageType>(frame[0])) {
    case wire::MessageType::Completed:
      return each(wire::Completed{}, [&](const wire::Completed& m) {
        for (const wire::Completion& c : m.events) completed(c);
      });
    case wire::MessageType::Failed:
      return each(wire::Failed{}, [&](const wire::Failed& m) { failed(m); });
    case wire::MessageType::Credit:
      return each(wire::Credit{}, [&](const wire::Credit& m) { bulk_sender_->credit(m.slots); });
    case wire::MessageType::Kept:
      return each(wire::Kept{}, [&](const wire::Kept& m) { bulk_sender_->kept(m); });
    case wire::MessageType::Filled:
      return each(wire::Filled{}, [&](wire::Filled& m) { bulk_sender_->filled(std::move(m)); });
    case wire::MessageType::Data:
      return each(wire::Data{}, [&](const wire::Data& m) { take_data(m); });
    case wire::MessageType::Printed:
      return each(wire::Printed{}, [&](const wire::Printed& m) { print(m.text); });
    case wire::MessageType::Reply:
    case wire::MessageType::Surveyed:
    case wire::MessageType::Built:
    case wire::MessageType::Invited:
    case wire::MessageType::Joined:
    case wire::MessageType::Pong: {  // they begin with what they answer
      wire::ReplyId id = 0;
      if (frame.size() < 1 + sizeof id) return;
      std::memcpy(&id, frame.data() + 1, sizeof id);
      return answered(id, frame);
    }
    default:
      return;  // of a later version
  }
}

void Session::answered(wire::ReplyId id, ByteView frame) {
  OnReply then;
  {
    const MutexLock lock(mutex_);
    const auto it = replies_.find(id);
    if (it == replies_.end()) return;
    then = std::move(it->second);
    replies_.erase(it);
  }
  then(frame);
}

// In the program's memory, but for what is left to do to it.
void Session::on_put(wire::Notice notice, size_t bytes) {
  const PackedReads::Arrival arrival = packed_reads_.arrived(notice, bytes);
  if (!arrival.sound) return link_->close();
  if (arrival.over) tell(*arrival.over);
}

void Session::completed(const wire::Completion& c) {
  if (!packed_reads_.told(c)) tell(c);
}

void Session::tell(const wire::Completion& c) {
  const Ref<EventListener> event = find_event(c.event);
  if (!event) return;
  const bool timed = c.end_ns != 0;
  event->complete(c.status, timed ? clock_.to_client(c.start_ns) : 0, timed ? clock_.to_client(c.end_ns) : 0);
}

// A command's failure concerns its queue. What could not be made is told by whichever queue synchronizes next: the
// commands that name it fail, too, but do not say why.
void Session::failed(const wire::Failed& f) {
  const bool made_something = api::fn_info(f.fn).attributes.creates != api::ObjectKind::Unknown;
  std::vector<Ref<QueueListener>> queues;
  {
    const MutexLock lock(mutex_);
    for (const auto& [name, queue] : queues_) {
      const bool concerned = name == f.object || (made_something && f.event == 0);
      if (concerned && try_hold(queue)) queues.push_back(Ref<QueueListener>::adopt(queue));
    }
  }
  for (const Ref<QueueListener>& queue : queues) queue->note_failure(f.code);
  const cl_int code = f.code < 0 ? f.code : CL_OUT_OF_RESOURCES;
  if (f.event != 0) packed_reads_.forget(f.event);
  const Ref<EventListener> event = f.event != 0 ? find_event(f.event) : Ref<EventListener>();
  if (event) event->complete(code, 0, 0);
}

void Session::take_data(const wire::Data& data) {
  TakeData take;
  {
    const MutexLock lock(mutex_);
    const auto it = data_.find(data.event);
    if (it == data_.end()) return;
    take = std::move(it->second);
    data_.erase(it);
  }
  take(data.bytes);
}

void Session::on_closed(const Status& why) {
  if (!leaves_ && !forgotten_ && !in_process()) note_loss(url_, why.text());
  lose();
}

void Session::lose() {
  if (!alive_.exchange(false)) return;
  bulk_sender_->close();
  packed_reads_.close();
  std::unordered_map<wire::ReplyId, OnReply> replies;
  std::vector<Ref<EventListener>> events;
  {
    const MutexLock lock(mutex_);
    replies.swap(replies_);
    for (auto& [id, event] : events_) {
      if (try_hold(event)) events.push_back(Ref<EventListener>::adopt(event));
    }
    events_.clear();
    data_.clear();
    queues_.clear();
  }
  if (!replies.empty() || !events.empty()) tell_losses();  // somebody waits, or will ask
  for (auto& [id, then] : replies) then(std::nullopt);
  for (const Ref<EventListener>& event : events) event->complete(CL_DEVICE_NOT_AVAILABLE, 0, 0);
}

}  // namespace gt::virt
