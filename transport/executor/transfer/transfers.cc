#include "transport/executor/transfer/transfers.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "transport/executor/transfer/part_transfer.h"

namespace gt::exec {
namespace {

using api::FnId;
using Shape = copy::Region::Shape;

// For Failed: what the program called.
FnId fn_of(Way way, Shape shape) {
  const bool up = way == Way::ToDevice;
  switch (shape) {
    case Shape::Box: return up ? FnId::clEnqueueWriteBufferRect : FnId::clEnqueueReadBufferRect;
    case Shape::Image: return up ? FnId::clEnqueueWriteImage : FnId::clEnqueueReadImage;
    default: return up ? FnId::clEnqueueWriteBuffer : FnId::clEnqueueReadBuffer;
  }
}

template <class Message>
bool is_in_place(const Message& m) {
  return m.data_path == wire::DataPath::Shared || m.data_path == wire::DataPath::Ring;
}

// No bytes: whether that is wrong the driver says.
template <class Message>
bool is_nothing(const Message& m) {
  const auto& [width, height, depth] = m.part.region;
  const bool small = width <= 1 && height <= 1 && depth <= 1 && width * height * depth == 0;
  const bool pitched = m.part.row_pitch != 0 || m.part.slice_pitch != 0;
  return m.data_path == wire::DataPath::Inline && m.bytes == 0 && m.part.shape <= Shape::Image && small && !pitched;
}

// The bytes of an inline read go ahead of its Completed.
class SendData final : public Then {
 public:
  SendData(ObjectId event, SmallBytes bytes, size_t size, InFlight::Share room)
      : event_(event), bytes_(std::move(bytes)), size_(size), room_(std::move(room)) {}
  void* data() { return bytes_.data(); }
  void over(cl_int status, News& news) override {
    if (status == CL_COMPLETE) news.session.out.send(wire::Data{event_, bytes_.view().first(size_)}, true);
  }

 private:
  ObjectId event_;
  SmallBytes bytes_;
  size_t size_;
  InFlight::Share room_;
};

}  // namespace

Transfers::~Transfers() {
  for (Held& held : held_) {
    if (!is_over(held)) held.bytes.abandon();
    let_go(held);
  }
}

template <class Message>
std::optional<Transfers::Target> Transfers::target(const Message& m, FnId fn) {
  const bool told = std::is_same_v<Message, wire::Read> || is_in_place(m);
  const auto fail = [&](cl_int code) {
    commands_.fail(fn, code, m.queue, m.event, told);
    return std::nullopt;
  };
  Objects& objects = commands_.objects();
  Target target;
  const Object* const queue = objects.find(m.queue, ObjectKind::Queue);
  if (!queue) return fail(CL_INVALID_COMMAND_QUEUE);
  const Object* mem = objects.find(m.mem, ObjectKind::Buffer);
  if (!mem) mem = objects.find(m.mem, ObjectKind::Svm);
  if (!mem) return fail(CL_INVALID_MEM_OBJECT);
  cl_int code = m.event ? objects.may_name(m.event) : told ? CL_INVALID_VALUE : CL_SUCCESS;
  target = {queue->queue, mem->memory(), m.part, mem->element, {}};
  if (code == CL_SUCCESS && !is_nothing(m)) code = check_part(*mem, m.bytes, target.part);
  if (code == CL_SUCCESS) code = objects.wait_list(m.waits, target.waits);
  return code == CL_SUCCESS ? std::optional(target) : fail(code);
}

void Transfers::run(const wire::Write& m, InFlight::Share room) {
  Session& session = commands_.session();
  const FnId fn = fn_of(Way::ToDevice, m.part.shape);
  const std::optional<Target> t = target(m, fn);
  cl_int code = CL_INVALID_VALUE;
  if (t && m.data_path == wire::DataPath::Inline) code = write_inline(m, *t, std::move(room));
  if (t && is_in_place(m)) code = in_place(m, Way::ToDevice, *t);
  const std::shared_ptr<Inbox> inbox = inbox_of(m);
  if (t && inbox) code = write_stream(m, *t, inbox);
  if (t && code != CL_SUCCESS) commands_.fail(fn, code, m.queue, m.event, is_in_place(m));
  if (code == CL_SUCCESS)
    (m.data_path == wire::DataPath::Peer ? session.count.peer_bytes_in : session.count.bytes_in) += m.bytes;
  else if (inbox && m.bytes > 0)  // the bytes come all the same
    inbox->add(m.transfer, std::make_shared<WriteJob>(inbox, m.bytes));
}

// Where the chunks of a transfer come in; nullptr: it is not in chunks, or its sender is gone.
std::shared_ptr<Inbox> Transfers::inbox_of(const wire::Write& m) {
  if (m.data_path == wire::DataPath::Stream) return inbox_;
  const std::shared_ptr<Peer> peer = m.data_path == wire::DataPath::Peer ? peers_->find(m.segment) : nullptr;
  return peer ? peer->inbox() : nullptr;
}

void Transfers::run(const wire::Read& m, InFlight::Share room) {
  Session& session = commands_.session();
  const FnId fn = fn_of(Way::ToHost, m.part.shape);
  const std::shared_ptr<Peer> peer = m.data_path == wire::DataPath::Peer ? peers_->find(m.segment) : nullptr;
  const std::optional<Target> t = target(m, fn);
  if (!t) return peer ? peer->give_up() : void();  // it waits for the bytes
  cl_int code = CL_INVALID_VALUE;
  if (m.data_path == wire::DataPath::Inline) code = read_inline(m, *t, std::move(room));
  if (is_in_place(m)) code = in_place(m, Way::ToHost, *t);
  if (m.data_path == wire::DataPath::Stream)
    code = read_stream(m, *t, std::make_unique<ToClient>(session, m));
  if (peer) code = read_stream(m, *t, peer->sink(m.transfer));
  if (code == CL_SUCCESS) {
    session.count.bytes_out += peer ? 0 : m.bytes;
    return;
  }
  commands_.fail(fn, code, m.queue, m.event, true);
  if (peer) peer->give_up();
}

bool Transfers::is_over(const Held& held) const { return commands_.cl().status(held.event) <= CL_COMPLETE; }

void Transfers::let_go(Held& held) {
  commands_.cl().clReleaseEvent(held.event);
  held.room = {};
}

void Transfers::reclaim() {
  for (; !held_.empty() && is_over(held_.front()); held_.pop_front()) let_go(held_.front());
}

void Transfers::reclaim_everywhere() {
  std::erase_if(held_, [this](Held& held) { return is_over(held) && (let_go(held), true); });
}

cl_int Transfers::write_inline(const wire::Write& m, const Target& t, InFlight::Share room) {
  if (m.data.size() != m.bytes) return CL_INVALID_VALUE;
  if (!room.given()) return CL_OUT_OF_HOST_MEMORY;
  Held held{nullptr, small_bytes(t, m.bytes), std::move(room)};
  std::memcpy(held.bytes.data(), m.data.data(), m.bytes);
  const int64_t before = Commands::when(*t.queue);
  const cl_int code = enqueue_part(commands_.session(), Way::ToDevice, *t.queue, t.memory, t.part,
                                   held.bytes.data(), t.waits, &held.event);
  if (code != CL_SUCCESS) return code;
  if (m.event) {
    commands_.cl().clRetainEvent(held.event);
    commands_.name_event(m.event, held.event, t.queue, before);
  }
  held_.push_back(std::move(held));
  return CL_SUCCESS;
}

cl_int Transfers::read_inline(const wire::Read& m, const Target& t, InFlight::Share room) {
  if (m.bytes > wire::LargestInline) return CL_INVALID_VALUE;
  if (!room.given()) return CL_OUT_OF_HOST_MEMORY;
  auto data = std::make_unique<SendData>(m.event, small_bytes(t, m.bytes), m.bytes, std::move(room));
  const int64_t before = Commands::when(*t.queue);
  cl_event event = nullptr;
  const cl_int code =
      enqueue_part(commands_.session(), Way::ToHost, *t.queue, t.memory, t.part, data->data(), t.waits, &event);
  if (code != CL_SUCCESS) return code;
  commands_.name_event(m.event, event, t.queue, before);
  commands_.tell(m.event, std::move(data));
  return CL_SUCCESS;
}

template <class Message>
void* Transfers::memory_of(const Message& m, const Target& t) {
  if (m.data_path == wire::DataPath::Ring) {
    prepare(*t.queue);  // pinned or not: it is not worth waiting for
    return ring_.at(m.offset, m.bytes);
  }
  void* memory = nullptr;
  if (const MessageSender::Use use(commands_.session().out); use.open())
    memory = use.link().view({m.segment, m.offset}, m.bytes);
  if (memory) pins_.pin(m.segment, t.queue->context);
  return memory;
}

template <class Message>
cl_int Transfers::in_place(const Message& m, Way way, const Target& t) {
  void* const memory = memory_of(m, t);
  if (!memory) return CL_INVALID_HOST_PTR;
  const int64_t before = Commands::when(*t.queue);
  cl_event event = nullptr;
  const cl_int code = enqueue_part(commands_.session(), way, *t.queue, t.memory, t.part, memory, t.waits, &event);
  if (code != CL_SUCCESS) return code;
  commands_.name_event(m.event, event, t.queue, before);
  commands_.tell(m.event);
  return CL_SUCCESS;
}

// The transfer's place in the client's queue.
cl_int Transfers::open_placeholder(const Target& t, staging::QueuePlaceholder& placeholder) {
  std::vector<cl_event> waits(t.waits.begin(), t.waits.end());
  if (t.queue->last_barrier) waits.push_back(t.queue->last_barrier);
  staging::QueueFacts facts;
  facts.queue = t.queue->handle;
  facts.context = t.queue->context;
  facts.in_order = t.queue->in_order;
  const auto count = static_cast<cl_uint>(waits.size());
  return placeholder.open(commands_.cl(), facts, count, count ? waits.data() : nullptr) ? CL_SUCCESS
                                                                                         : CL_OUT_OF_RESOURCES;
}

cl_int Transfers::write_stream(const wire::Write& m, const Target& t, const std::shared_ptr<Inbox>& inbox) {
  const uint64_t largest = m.chunk_bytes ? m.chunk_bytes : inbox->slot_bytes();
  const copy::Chunks chunks(t.part, t.element, largest);
  if (inbox->slots() == 0 || largest > inbox->slot_bytes() || !chunks.valid()) return CL_INVALID_VALUE;
  const std::shared_ptr<Queue> ours = streams_of(*t.queue).write_queue(inbox->base(), inbox->bytes());
  if (!ours) return CL_OUT_OF_RESOURCES;
  staging::QueuePlaceholder placeholder;
  const int64_t before = Commands::when(*t.queue);
  if (const cl_int code = open_placeholder(t, placeholder); code != CL_SUCCESS) return code;
  t.memory.retain(commands_.cl());
  const auto job = std::make_shared<WriteJob>(inbox, ours, t.memory, chunks, placeholder);
  begin_when_reached(t, placeholder, ++t.queue->order, make_then([job](cl_int status, News&) {
                       job->begin(status < 0 ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_SUCCESS);
                     }));
  name_after(t, placeholder, m.event, before);
  if (!inbox->add(m.transfer, job)) {
    job->give_up(CL_OUT_OF_RESOURCES);
    refuse_sender(m);
  }
  return CL_SUCCESS;
}

cl_int Transfers::read_stream(const wire::Read& m, const Target& t, std::unique_ptr<Sink> to) {
  const uint64_t largest = m.chunk_bytes ? m.chunk_bytes : commands_.session().options.slot_bytes;
  const copy::Chunks chunks(t.part, t.element, largest);
  if (largest > commands_.session().options.slot_bytes || !chunks.valid()) return CL_INVALID_VALUE;
  std::shared_ptr<Reader> reader = streams_of(*t.queue).reader();
  if (!reader) return CL_OUT_OF_RESOURCES;
  staging::QueuePlaceholder placeholder;
  const int64_t before = Commands::when(*t.queue);
  if (const cl_int code = open_placeholder(t, placeholder); code != CL_SUCCESS) return code;
  t.memory.retain(commands_.cl());
  auto job = std::make_unique<ReadJob>(ReadJob{chunks, t.memory, std::move(to), placeholder, {}});
  ReadJob& kept = *job;
  auto then = std::make_unique<BeginRead>(std::move(reader), std::move(job));
  const uint64_t order = ++t.queue->order;
  name_after(t, placeholder, m.event, before);
  kept.told = commands_.told_later(m.event);
  begin_when_reached(t, placeholder, order, std::move(then));
  return CL_SUCCESS;
}

// Calls then->over() when the place is reached, perhaps at once.
void Transfers::begin_when_reached(const Target& t, const staging::QueuePlaceholder& placeholder, uint64_t order,
                                   std::unique_ptr<Then> then) {
  if (placeholder.state(commands_.cl()) != staging::QueuePlaceholder::State::Closed) {
    News none(commands_.session());
    return then->over(placeholder.before() ? commands_.cl().status(placeholder.before()) : CL_COMPLETE, none);
  }
  Awaited awaited;
  awaited.order = order;
  awaited.event = placeholder.before();
  awaited.queue = t.queue;
  awaited.then = std::move(then);
  commands_.cl().clRetainEvent(awaited.event);
  commands_.event_waiter()->await(std::move(awaited));
}

void Transfers::name_after(const Target& t, const staging::QueuePlaceholder& placeholder, ObjectId event,
                           int64_t before) {
  if (event)
    commands_.name_event(event, placeholder.after(), t.queue, before);
  else
    commands_.cl().clReleaseEvent(placeholder.after());
}

// Its chunks are wrong.
void Transfers::refuse_sender(const wire::Write& m) {
  if (m.data_path == wire::DataPath::Peer) {
    if (const auto peer = peers_->find(m.segment)) peer->give_up();
  } else if (const MessageSender::Use use(commands_.session().out); use.open()) {
    use.link().close();
  }
}

DeviceStreams& Transfers::streams_of(const Queue& queue) {
  for (const auto& place : streams_)
    if (place->is_at(queue)) return *place;
  return *streams_.emplace_back(std::make_shared<DeviceStreams>(commands_.shared_session(), commands_.event_waiter(),
                                                                 queue.context, queue.device));
}

void Transfers::prepare(const Queue& queue) {
  const Options& options = commands_.session().options;
  if (options.inbox_slots != 0 && options.read_slots != 0) streams_of(queue).prepare(inbox_, ring_);
}

void Transfers::expect(const Object& object) {
  if (object.kind == ObjectKind::Queue) {
    if (!std::exchange(has_queue_, true) || large_.contains(object.queue->context)) prepare(*object.queue);
    return;
  }
  if (object.bytes <= wire::LargestInline) return;
  const auto context = Cl::ask<cl_context>(commands_.cl().clGetMemObjectInfo, object.as<cl_mem>(), CL_MEM_CONTEXT);
  if (!large_.insert(context).second) return;
  commands_.objects().each_queue([&](const std::shared_ptr<Queue>& queue) {
    if (queue->context == context) prepare(*queue);
  });
}

// Of the ring of the queue's device. What is done with is let go of first: else it would keep the ring.
SmallBytes Transfers::small_bytes(const Target& t, size_t bytes) {
  reclaim();
  return {streams_of(*t.queue).small_memory(), std::max<size_t>(bytes, 1)};  // of nothing, too: an address
}

void Transfers::forget(cl_context context) {
  large_.erase(context);
  reclaim_everywhere();  // bytes in pinned memory hold the context
  std::erase_if(streams_, [context](const auto& place) { return place->is_of(context); });
  pins_.forget(context);
}

}  // namespace gt::exec
