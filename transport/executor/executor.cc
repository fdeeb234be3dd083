// The dispatch of messages, and the life of a session.
#include "transport/executor/executor.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "transport/executor/base/driver_lock.h"
#include "transport/executor/calls/backlog.h"
#include "transport/executor/calls/calls.h"
#include "transport/executor/calls/device_discovery.h"
#include "transport/executor/calls/launches.h"
#include "transport/executor/calls/programs.h"
#include "transport/executor/transfer/kept_chunks.h"
#include "transport/executor/transfer/migrator.h"
#include "transport/executor/transfer/peers.h"
#include "transport/executor/transfer/transfers.h"

namespace gt::exec {
namespace {

using wire::MessageType;

constexpr std::chrono::microseconds LookAgain{200};  // for room

// Everything that was in a queue is over. Counts down when several queues are waited for.
struct Finishing {
  wire::ReplyId reply = 0;
  std::atomic<uint32_t> left{1};
  std::atomic<cl_int> code{CL_SUCCESS};

  void one_is_over(Session& session) {
    if (--left != 0) return;
    session.send_printed();
    const cl_int result = code;
    session.out.send(wire::Reply{reply, {reinterpret_cast<const uint8_t*>(&result), sizeof result}});
  }
};

}  // namespace

// Members in the order in which they need each other.
class Executor::State {
 public:
  State(const Functions& functions, wire::Link& link, const Limits& limits, Options&& options)
      : session(std::make_shared<Session>(functions, link, limits, std::move(options))),
        event_waiter(std::make_shared<EventWaiter>(session)),
        inbox(std::make_shared<Inbox>(session, event_waiter, session->out)),
        kept_chunks(std::make_shared<KeptChunks>(session, inbox)),
        peers(std::make_shared<Peers>(session, event_waiter)),
        objects(*session),
        commands(session, objects, event_waiter),
        calls(commands),
        launches(commands),
        migrator(commands),
        pins(*session),
        transfers(std::make_unique<Transfers>(commands, inbox, ring, peers, pins)),
        programs(std::make_unique<Programs>(commands)),
        fragments(limits.message_bytes),
        link_(link) {
    commands.context_released = [this](cl_context context) {
      migrator.forget(context);
      transfers->forget(context);
    };
    commands.named = [this](const Object& object) { transfers->expect(object); };
  }

  // A frame from the link.
  bool take(ByteView frame);
  bool dispatch(ByteView frame) GT_REQUIRES(dispatching);
  bool run(const wire::Call& m) GT_REQUIRES(dispatching);
  bool run(const wire::Launch& m) GT_REQUIRES(dispatching);
  bool run(const wire::Update& m) GT_REQUIRES(dispatching);
  bool run(const wire::Move& m) GT_REQUIRES(dispatching);
  bool run(const wire::Finish& m) GT_REQUIRES(dispatching);
  bool run(const wire::Subscribe& m) GT_REQUIRES(dispatching);
  bool run(wire::Build& m) GT_REQUIRES(dispatching);
  bool run(const wire::Survey& m) GT_REQUIRES(dispatching);
  bool run(const wire::Ping& m) GT_REQUIRES(dispatching);
  bool run(const wire::Leave& m) GT_REQUIRES(dispatching);
  bool run(const wire::Invite& m) GT_REQUIRES(dispatching);
  bool run(const wire::Join& m) GT_REQUIRES(dispatching);
  bool run(const wire::Recall& m) GT_REQUIRES(dispatching);
  bool assemble(ByteView frame) GT_REQUIRES(dispatching);
  void refuse() { link_.close(); }
  // The driver and the message decide what happens inside; what throws has no memory.
  template <class Handle>
  void guarded(Handle handle);
  void shut_down(uint32_t timeout_ms);

  const std::shared_ptr<Session> session;
  const std::shared_ptr<EventWaiter> event_waiter;
  const std::shared_ptr<Inbox> inbox;
  const std::shared_ptr<KeptChunks> kept_chunks;
  BounceBuffer ring;
  const std::shared_ptr<Peers> peers;
  Objects objects;
  Commands commands;
  Calls calls;
  Launches launches;
  Migrator migrator;
  SharedPins pins;
  std::unique_ptr<Transfers> transfers;
  std::unique_ptr<Programs> programs;
  wire::Assembler fragments GT_GUARDED_BY(dispatching);

  Mutex dispatching;  // held while a message is taken in
  Mutex mutex;
  std::condition_variable changed;
  bool started = false;
  bool closed GT_GUARDED_BY(mutex) = false;
  std::atomic<uint32_t> inside{0};  // handlers that are running

 private:
  template <class Message>
  bool decoded(ByteView frame, Message& message) GT_REQUIRES(dispatching) {
    return wire::decode(frame, message) && run(message);
  }
  template <class Message>
  bool transfer(ByteView frame, Message& message) GT_REQUIRES(dispatching);
  bool may_go_ahead(ByteView frame) GT_REQUIRES(dispatching);
  bool put_off(ByteView frame) GT_REQUIRES(dispatching);
  void catch_up();
  bool catch_up_once(InFlight::Watch& watch, bool first, bool& moved, bool& goes_on);
  void finish_queue(const std::shared_ptr<Queue>& queue, const std::shared_ptr<Finishing>& finishing);

  wire::Link& link_;
  Backlog later_;
  bool catching_up_ GT_GUARDED_BY(dispatching) = false;  // there is a thread for it
  std::atomic<std::thread::id> catching_up_now_{};  // and it has the lock of dispatching
  // Kept for their room: decoding the next message allocates nothing.
  wire::Launch launch_ GT_GUARDED_BY(dispatching);
  wire::Write write_ GT_GUARDED_BY(dispatching);
  wire::Read read_ GT_GUARDED_BY(dispatching);
};

template <class Handle>
void Executor::State::guarded(Handle handle) {
  ++inside;
  try {
    if (!handle()) refuse();
  } catch (...) {
    refuse();
  }
  --inside;
}

bool Executor::State::take(ByteView frame) {
  if (catching_up_now_ == std::this_thread::get_id()) {  // from a client in this process that just got an answer
    later_.push_back(frame);
    return true;
  }
  while (later_.is_full() && !link_.is_closed()) std::this_thread::sleep_for(LookAgain);
  const MutexLock lock(dispatching);
  if (later_.empty() || may_go_ahead(frame)) return dispatch(frame);
  later_.push_back(frame);
  return true;
}

// What has been named before the messages that wait, and may be what they wait for.
bool Executor::State::may_go_ahead(ByteView frame) {
  constexpr auto Fn = api::FnId::clSetUserEventStatus;
  const auto type = frame.empty() ? MessageType{} : static_cast<MessageType>(frame[0]);
  wire::Subscribe subscribe;
  wire::Call call;
  std::vector<api::DecodedArg> args;
  ObjectId event = 0;
  if (type == MessageType::Subscribe && wire::decode(frame, subscribe)) event = subscribe.event;
  if (type == MessageType::Call && wire::decode(frame, call) && call.fn == static_cast<uint16_t>(Fn) &&
      api::decode_inputs(Fn, call.inputs, args) && !args.empty())
    event = args[0].value;
  return objects.find(event, ObjectKind::Event) != nullptr;
}

// False: there is no thread to be had.
bool Executor::State::put_off(ByteView frame) {
  constexpr size_t StackBytes = size_t{8} << 20;  // it calls drivers
  if (!catching_up_) {
    ++inside;
    catching_up_ = session->threads.start("gtrace-backlog", StackBytes, [this] { catch_up(); });
    if (!catching_up_) return --inside, false;
  }
  later_.put_back(frame);
  return true;
}

void Executor::State::catch_up() {
  constexpr std::chrono::milliseconds Longest{8};
  InFlight::Watch watch(session->in_flight);
  std::chrono::microseconds pause = LookAgain;
  bool goes_on = true;
  for (bool first = true; goes_on; first = false) {
    bool moved = false;
    goes_on = false;  // if it throws
    guarded([&] { return catch_up_once(watch, first, moved, goes_on); });
    guarded([&] { return event_waiter->look(wire::Idle::Sleeps), true; });
    pause = moved ? LookAgain : std::min<std::chrono::microseconds>(pause * 2, Longest);
    if (goes_on) std::this_thread::sleep_for(pause);
  }
  --inside;
}

// False: a message is wrong. `moved`: some were dispatched; `goes_on`: others wait.
bool Executor::State::catch_up_once(InFlight::Watch& watch, bool first, bool& moved, bool& goes_on) {
  struct Now {
    explicit Now(std::atomic<std::thread::id>& now) : id(now) { id = std::this_thread::get_id(); }
    ~Now() { id = std::thread::id(); }
    std::atomic<std::thread::id>& id;
  };
  const MutexLock lock(dispatching);
  const Now now(catching_up_now_);
  transfers->reclaim_everywhere();
  if (watch.is_stuck()) {
    session->log_stuck();
    session->in_flight.refuse();
  }
  later_.unblock();
  const size_t before = later_.size();
  while (!later_.empty() && !later_.is_blocked())
    if (!dispatch(later_.pop())) return false;
  moved = later_.size() != before;
  if (moved || first)  // what the room depends on must have reached the device
    objects.each_queue([&](const std::shared_ptr<Queue>& queue) { session->cl.clFlush(queue->handle); });
  catching_up_ = goes_on = !later_.empty() && !link_.is_closed();
  return true;
}

namespace {

// Bytes that are held here for an inline transfer. Wrong numbers are refused later.
uint64_t inline_bytes(const wire::Write& m) { return m.data.size(); }
uint64_t inline_bytes(const wire::Read& m) { return std::min<uint64_t>(m.bytes, wire::LargestInline); }

}  // namespace

template <class Message>
bool Executor::State::transfer(ByteView frame, Message& m) {
  if (!wire::decode(frame, m)) return false;
  InFlight::Share room;
  if (m.data_path == wire::DataPath::Inline) {
    const uint64_t bytes = inline_bytes(m);
    room = {session->in_flight, bytes};
    if (!room.given()) {
      transfers->reclaim_everywhere();
      room = {session->in_flight, bytes};
    }
    if (!room.given() && !session->in_flight.refuses(bytes) && put_off(frame)) return true;
  }
  transfers->run(m, std::move(room));
  return true;
}

bool Executor::State::dispatch(ByteView frame) {
  if (frame.empty()) return false;
  if (event_waiter->any_watched()) event_waiter->look(wire::Idle::Sleeps);
  programs->name_linked();
  switch (static_cast<MessageType>(frame[0])) {
    case MessageType::Call: { wire::Call m; return decoded(frame, m); }
    case MessageType::Launch: return decoded(frame, launch_);
    case MessageType::Update: { wire::Update m; return decoded(frame, m); }
    case MessageType::Move: { wire::Move m; return decoded(frame, m); }
    case MessageType::Write: return transfer(frame, write_);
    case MessageType::Read: return transfer(frame, read_);
    case MessageType::Finish: { wire::Finish m; return decoded(frame, m); }
    case MessageType::Subscribe: { wire::Subscribe m; return decoded(frame, m); }
    case MessageType::Build: { wire::Build m; return decoded(frame, m); }
    case MessageType::Survey: { wire::Survey m; return decoded(frame, m); }
    case MessageType::Ping: { wire::Ping m; return decoded(frame, m); }
    case MessageType::Leave: { wire::Leave m; return decoded(frame, m); }
    case MessageType::Invite: { wire::Invite m; return decoded(frame, m); }
    case MessageType::Join: { wire::Join m; return decoded(frame, m); }
    case MessageType::Recall: { wire::Recall m; return decoded(frame, m); }
    case MessageType::FragmentToExecutor: return assemble(frame);
    default: return false;
  }
}

bool Executor::State::assemble(ByteView frame) {
  Bytes whole;
  if (!fragments.take<wire::FragmentToExecutor>(frame, whole)) return false;
  if (whole.empty()) return true;
  return static_cast<MessageType>(whole[0]) != MessageType::FragmentToExecutor && dispatch(whole);
}

bool Executor::State::run(const wire::Call& m) {
  calls.run(m);
  return true;
}
bool Executor::State::run(const wire::Launch& m) {
  launches.run(m);
  return true;
}
bool Executor::State::run(const wire::Update& m) {
  calls.run(m);
  return true;
}
bool Executor::State::run(const wire::Move& m) {
  migrator.run(m);
  return true;
}
bool Executor::State::run(const wire::Subscribe& m) {
  commands.subscribe(m.event);
  return true;
}
bool Executor::State::run(const wire::Invite& m) {
  peers->run(m);
  return true;
}
bool Executor::State::run(const wire::Join& m) {
  peers->run(m);
  return true;
}
bool Executor::State::run(const wire::Recall& m) { return kept_chunks->recall(m); }
bool Executor::State::run(wire::Build& m) {
  programs->run(std::move(m));
  return true;
}

bool Executor::State::run(const wire::Finish& m) {
  transfers->reclaim();
  const auto finishing = std::make_shared<Finishing>();
  finishing->reply = m.reply;
  if (m.queue == 0) {
    objects.each_queue([&](const std::shared_ptr<Queue>& queue) { finish_queue(queue, finishing); });
  } else if (const Object* const queue = objects.find(m.queue, ObjectKind::Queue)) {
    finish_queue(queue->queue, finishing);
  } else {
    finishing->code = CL_INVALID_COMMAND_QUEUE;
  }
  finishing->one_is_over(*session);
  return true;
}

// A marker is over when everything before it is; clFinish might also wait for what comes behind.
void Executor::State::finish_queue(const std::shared_ptr<Queue>& queue, const std::shared_ptr<Finishing>& finishing) {
  Awaited awaited;
  const cl_int code = session->cl.clEnqueueMarkerWithWaitList(queue->handle, 0, nullptr, &awaited.event);
  if (code != CL_SUCCESS) {
    finishing->code = code;
    return;
  }
  session->cl.clFlush(queue->handle);
  ++finishing->left;
  awaited.queue = queue;
  awaited.order = ++queue->order;
  // What commands ended with is told by their events; a queue that cannot go on is an error here.
  awaited.then = make_then([finishing](cl_int status, News& news) {
    if (status < 0 && status != CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) finishing->code = status;
    news.send();
    finishing->one_is_over(news.session);
  });
  event_waiter->await_here(std::move(awaited));
}

bool Executor::State::run(const wire::Survey& m) {
  wire::Surveyed surveyed;
  surveyed.reply = m.reply;
  surveyed.inbox_segment = inbox->segment();
  surveyed.chunks = kept_chunks->offer();
  surveyed.inbox_slots = inbox->slots();
  surveyed.slot_bytes = session->options.slot_bytes;
  surveyed.ring_segment = ring.segment();
  surveyed.ring_bytes = ring.bytes();
  if (const auto& host = session->options.emulates_usm; m.emulate_usm && host)
    session->usm = emulated_usm(session->cl, *host);
  discover_devices(*session, objects, m.device, surveyed);
  session->out.send(surveyed);
  return true;
}

bool Executor::State::run(const wire::Ping& m) {
  session->out.send(wire::Pong{m.reply, m.sent_ns, static_cast<int64_t>(monotonic_ns())});
  return true;
}

bool Executor::State::run(const wire::Leave&) {
  link_.expect_end();
  return true;
}

// The client is gone: nothing may go on waiting for it; then everything ends by itself, and goes.
void Executor::State::shut_down(uint32_t timeout_ms) {
  session->out.cut();
  migrator.close();  // before what moves wait for fails: PoCL 3.1 miscounts when two threads fail commands of one queue
  objects.fail_user_events();
  event_waiter->look(wire::Idle::Sleeps);
  kept_chunks->close();
  inbox->close();
  peers->close();
  programs.reset();
  transfers->close();
  event_waiter->close();
  const bool idle = session->threads.wait_for_all(timeout_ms) && commands.wait_until_idle(timeout_ms);
  if (!idle && session->options.log) session->options.log("commands are still under way: left behind");
  transfers.reset();
  peers->end();
  objects.remove_all();
}

Executor::Executor(const Functions& functions, wire::Link& link, const Limits& limits, Options options)
    : state_(std::make_unique<State>(functions, link, limits, std::move(options))) {}

Executor::~Executor() {
  state_->refuse();
  if (state_->started) wait_until_closed();
  while (state_->inside != 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
  state_->shut_down(state_->session->options.close_ms);
}

Status Executor::start() {
  if (!state_->session->cl.has_all()) return {Kind::Unsupported, "the OpenCL loader lacks functions of OpenCL 1.2"};
  const MessageSender::Use use(state_->session->out);
  GT_TRY(state_->inbox->open(use.link()));
  GT_TRY(state_->kept_chunks->open(use.link()));
  state_->ring.open(use.link(), state_->session->options.ring_bytes);
  state_->started = true;  // handlers may run before start() returns
  const Status started = use.link().start(*this);
  state_->started = started.ok();
  return started;
}

void Executor::wait_until_closed() {
  UniqueLock lock(state_->mutex);
  state_->changed.wait(lock, [this]() GT_REQUIRES(state_->mutex) { return state_->closed; });
}

Counters Executor::counters() const {
  Counters now;
  for (const CounterRow& row : CounterRows) now.*row.value = state_->session->count.*row.live;
  now.in_flight_bytes = state_->session->in_flight.bytes();
  return now;
}

void Executor::on_frame(ByteView frame) {
  state_->guarded([&] { return state_->take(frame); });
}

void* Executor::native(api::ObjectKind kind, wire::ObjectId name) const {
  const MutexLock lock(state_->dispatching);
  const Object* const object = state_->objects.find(name, kind);
  return object ? object->kind == ObjectKind::Queue ? object->queue->handle : object->handle : nullptr;
}

bool Executor::adopt(cl_mem buffer, wire::ObjectId name) {
  const MutexLock lock(state_->dispatching);
  if (state_->objects.may_name(name) != CL_SUCCESS) return false;
  if (state_->session->cl.clRetainMemObject(buffer) != CL_SUCCESS) return false;
  return state_->commands.name(name, ObjectKind::Buffer, buffer) == CL_SUCCESS;
}

Mutex* Executor::driver_lock(cl_device_id device) const { return driver_lock_of(*state_->session, device); }

void Executor::on_put(wire::Notice notice, size_t bytes) {
  state_->guarded([&] { return state_->kept_chunks->arrive(notice, bytes); });
}

void Executor::on_withdrawn(wire::SegmentId segment) {
  state_->guarded([&] { return state_->pins.forget(segment), true; });
}

bool Executor::on_idle(wire::Idle how) {
  if (!state_->event_waiter->any_watched()) return false;
  bool told = false;
  state_->guarded([&] {
    told = state_->event_waiter->look(how);
    return true;
  });
  return told;
}

void Executor::on_closed(const Status&) {
  const MutexLock lock(state_->mutex);
  state_->closed = true;
  state_->changed.notify_all();
}

}  // namespace gt::exec
