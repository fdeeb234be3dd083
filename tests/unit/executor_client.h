// A client of an executor for tests: speaks messages over a link, and keeps what it is told.
// Thread safety: answers arrive from any thread; the rest is the test's own.
#pragma once

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "tests/unit/call_frames.h"
#include "traces/api/decode.h"
#include "transport/copy/chunks.h"
#include "transport/executor/executor.h"
#include "transport/link/local_link.h"
#include "transport/protocol/chunk_messages.h"
#include "transport/protocol/fragments.h"

namespace gt::exec {

using testing::named;
using wire::ObjectId;

// The drivers of this machine.
inline const Functions& real_driver() {
  static const Functions functions = functions_of(::dlopen("libOpenCL.so.1", RTLD_NOW));
  return functions;
}

class Client : public wire::LinkHandler {
 public:
  explicit Client(const Functions& functions, const Limits& limits = {}, Options options = {}) {
    auto [mine, theirs] = wire::make_local_link();
    link_ = std::move(mine);
    their_link_ = std::move(theirs);
    executor = std::make_unique<Executor>(functions, *their_link_, limits, std::move(options));
    REQUIRE(link_->start(*this).ok());
    REQUIRE(executor->start().ok());
  }
  ~Client() override { executor.reset(); }

  wire::Link& link() { return *link_; }
  ObjectId new_id(uint64_t count = 1) { return std::exchange(next_id_, next_id_ + count); }

  template <class Message>
  void send(const Message& message, bool more = false) {
    send_frame(testing::framed(message), more);
  }

  // A call without an answer. The arguments as in C, with named() handles.
  template <api::FnId F, class... A>
  void call(ObjectId result, ObjectId event, A... args) {
    send_frame(testing::call_frame<F>({0, result, event}, args...));
  }
  // The outputs of a call, decoded; the return value comes first.
  template <api::FnId F, class... A>
  std::vector<api::DecodedArg> ask(ObjectId result, A... args) {
    const wire::ReplyId reply = new_reply();
    send_frame(testing::call_frame<F>({reply, result, 0}, args...));
    outputs = wait_for(replies, reply);
    std::vector<api::DecodedArg> decoded;
    REQUIRE(api::decode_outputs(F, outputs, decoded));
    return decoded;
  }
  // As the virtual platform does it: the answer is brought about and received by this thread.
  cl_int finish(ObjectId queue) {
    const wire::ReplyId reply = new_reply();
    link_->prepare_help();
    send(wire::Finish{queue, reply}, true);
    link_->help([&] {
      const std::lock_guard lock(mutex);
      return replies.contains(reply);
    });
    const Bytes bytes = wait_for(replies, reply);
    cl_int code = -1;
    REQUIRE(bytes.size() == sizeof code);
    std::memcpy(&code, bytes.data(), sizeof code);
    return code;
  }
  cl_int update(wire::Update m) {
    m.reply = new_reply();
    send(m);
    const Bytes bytes = wait_for(replies, m.reply);
    cl_int code = -1;
    REQUIRE(bytes.size() == sizeof code);
    std::memcpy(&code, bytes.data(), sizeof code);
    return code;
  }
  wire::Surveyed survey(bool emulate_usm = false) {
    const wire::ReplyId reply = new_reply();
    wire::Survey ask;
    ask.reply = reply;
    ask.emulate_usm = emulate_usm;
    send(ask);
    return wait_for(surveys, reply);
  }
  wire::Built build(wire::Build build) {
    build.reply = new_reply();
    send(build);
    return wait_for(builds, build.reply);
  }
  wire::Invited invite(uint32_t peer) {
    const wire::ReplyId reply = new_reply();
    send(wire::Invite{reply, peer});
    return wait_for(invitations, reply);
  }
  wire::Joined join(uint32_t peer, const wire::Invited& to) {
    const wire::ReplyId reply = new_reply();
    send(wire::Join{reply, peer, to.name, to.secret, to.urls});
    return wait_for(joins, reply);
  }
  // The completion of an event that is told of.
  wire::Completion completion(ObjectId event) { return wait_for(completions, event); }
  wire::Completion subscribed(ObjectId event) {
    wire::Subscribe m;
    m.event = event;
    send(m);
    return completion(event);
  }
  // An inline read; its bytes.
  Bytes read(ObjectId queue, ObjectId mem, uint64_t offset, uint64_t bytes) {
    wire::Read m;
    m.queue = queue;
    m.mem = mem;
    m.event = new_id();
    m.part.origin[0] = offset;
    m.part.region[0] = m.bytes = bytes;
    send(m);
    CHECK(completion(m.event).status == CL_COMPLETE);
    return data[m.event];
  }
  void write(ObjectId queue, ObjectId mem, uint64_t offset, ByteView bytes, ObjectId event = 0) {
    wire::Write m;
    m.queue = queue;
    m.mem = mem;
    m.event = event;
    m.part.origin[0] = offset;
    m.part.region[0] = m.bytes = bytes.size();
    m.data = bytes;
    send(m);
  }
  // What failed last; waits for it.
  wire::Failed failure() {
    std::unique_lock lock(mutex);
    REQUIRE(changed_.wait_for(lock, Timeout, [&] { return !failures.empty(); }));
    const wire::Failed first = failures.front();
    failures.erase(failures.begin());
    return first;
  }
  bool is_closed() const { return link_->is_closed(); }

  // A write in chunks through the inbox, with as many slots as there are.
  void stream(const wire::Write& m, uint64_t element, ByteView packed, const wire::Surveyed& to) {
    send(m);
    const copy::Chunks chunks(m.part, element, m.chunk_bytes ? m.chunk_bytes : to.slot_bytes);
    for (uint64_t i = 0; i < chunks.count(); ++i) put_chunk(m.transfer, chunks.at(i), packed, to);
  }
  void put_chunk(uint32_t transfer, const copy::Chunks::Chunk& chunk, ByteView packed, const wire::Surveyed& to) {
    const uint32_t slot = take_slot(to.inbox_slots);
    const wire::Address address{to.inbox_segment, slot * to.slot_bytes};
    link_->put(packed.data() + chunk.offset, address, chunk.bytes, wire::chunk_notice(transfer, slot));
  }
  uint32_t take_slot(uint32_t slots) {
    std::unique_lock lock(mutex);
    for (; slots_used_ < slots; ++slots_used_) credits.push_back(slots_used_);
    REQUIRE(changed_.wait_for(lock, Timeout, [&] { return !credits.empty(); }));
    const uint32_t slot = credits.front();
    credits.erase(credits.begin());
    return slot;
  }

  // Waits until `map` has `key`.
  template <class Map>
  typename Map::mapped_type wait_for(Map& map, typename Map::key_type key) {
    std::unique_lock lock(mutex);
    REQUIRE(changed_.wait_for(lock, Timeout, [&] { return map.contains(key); }));
    return map.at(key);
  }
  template <class Holds>
  bool wait_until(Holds holds) {
    std::unique_lock lock(mutex);
    return changed_.wait_for(lock, Timeout, holds);
  }

  void on_frame(ByteView frame) override {
    const std::lock_guard lock(mutex);
    told_by = std::this_thread::get_id();
    REQUIRE(!frame.empty());
    Bytes whole;
    if (frame[0] == static_cast<uint8_t>(wire::MessageType::FragmentToClient)) {
      REQUIRE(fragments_.take<wire::FragmentToClient>(frame, whole));
      if (whole.empty()) return;
      frame = whole;
    }
    switch (static_cast<wire::MessageType>(frame[0])) {
      case wire::MessageType::Reply: take<wire::Reply>(frame); break;
      case wire::MessageType::Completed: take<wire::Completed>(frame); break;
      case wire::MessageType::Failed: take<wire::Failed>(frame); break;
      case wire::MessageType::Credit: take<wire::Credit>(frame); break;
      case wire::MessageType::Data: take<wire::Data>(frame); break;
      case wire::MessageType::Printed: take<wire::Printed>(frame); break;
      case wire::MessageType::Surveyed: take<wire::Surveyed>(frame); break;
      case wire::MessageType::Built: take<wire::Built>(frame); break;
      case wire::MessageType::Pong: take<wire::Pong>(frame); break;
      case wire::MessageType::Invited: take<wire::Invited>(frame); break;
      case wire::MessageType::Joined: take<wire::Joined>(frame); break;
      case wire::MessageType::Kept: take<wire::Kept>(frame); break;
      case wire::MessageType::Filled: take<wire::Filled>(frame); break;
      default: FAIL("a message that clients do not get");
    }
    changed_.notify_all();
  }
  void on_put(wire::Notice notice, size_t bytes) override {
    const std::lock_guard lock(mutex);
    puts.emplace_back(notice, bytes);
  }
  void on_closed(const Status&) override {}

  std::unique_ptr<Executor> executor;
  Bytes outputs;

  std::mutex mutex;
  std::map<wire::ReplyId, Bytes> replies;
  std::vector<std::pair<wire::Notice, size_t>> puts;  // those with a notice
  std::map<wire::ReplyId, wire::Surveyed> surveys;
  std::map<wire::ReplyId, wire::Built> builds;
  std::map<wire::ReplyId, wire::Pong> pongs;
  std::map<wire::ReplyId, wire::Invited> invitations;
  std::map<wire::ReplyId, wire::Joined> joins;
  std::map<ObjectId, wire::Completion> completions;
  std::map<ObjectId, Bytes> data;
  std::vector<wire::Failed> failures;
  std::vector<uint32_t> credits;
  std::vector<chunks::ShortName> kept;
  std::optional<uint64_t> room;  // for what is kept; none: it has not said
  std::map<uint32_t, std::vector<uint16_t>> filled;  // what is missing, by slot
  std::vector<std::string> order;  // of completions and prints
  std::string printed;
  std::thread::id told_by;  // who brought the last frame

 private:
  static constexpr std::chrono::seconds Timeout{30};

  wire::ReplyId new_reply() { return ++next_reply_; }
  void send_frame(ByteView frame, bool more = false) {
    CHECK(wire::send_message<wire::FragmentToExecutor>(*link_, numbers_, frame, more).ok());
  }
  template <class Message>
  void take(ByteView frame) {
    Message m;
    REQUIRE(wire::decode(frame, m));
    got(m);
  }
  void got(const wire::Reply& m) { replies[m.reply] = Bytes(m.outputs.begin(), m.outputs.end()); }
  void got(const wire::Completed& m) {
    for (const wire::Completion& one : m.events) {
      completions[one.event] = one;
      order.push_back("completed " + std::to_string(one.event));
    }
  }
  void got(const wire::Failed& m) { failures.push_back(m); }
  void got(const wire::Credit& m) { credits.insert(credits.end(), m.slots.begin(), m.slots.end()); }
  void got(const wire::Data& m) { data[m.event] = Bytes(m.bytes.begin(), m.bytes.end()); }
  void got(const wire::Printed& m) {
    printed += as_text(m.text);
    order.push_back("printed");
  }
  void got(const wire::Surveyed& m) { surveys[m.reply] = m; }
  void got(const wire::Built& m) { builds[m.reply] = m; }
  void got(const wire::Pong& m) { pongs[m.reply] = m; }
  void got(const wire::Invited& m) { invitations[m.reply] = m; }
  void got(const wire::Joined& m) { joins[m.reply] = m; }
  void got(const wire::Kept& m) {
    kept.insert(kept.end(), m.names.begin(), m.names.end());
    room = m.room;
  }
  void got(const wire::Filled& m) { filled[m.slot] = m.missing; }

  std::unique_ptr<wire::Link> link_, their_link_;
  wire::FragmentNumbers numbers_{0};
  wire::Assembler fragments_{size_t{1} << 30};
  std::condition_variable changed_;
  uint32_t slots_used_ = 0;
  ObjectId next_id_ = 1;
  std::atomic<wire::ReplyId> next_reply_{0};
};

// A client with a context on the first device, and an in-order queue.
struct Ready : Client {
  explicit Ready(const Functions& functions, const Limits& limits = {}, Options options = {},
                 cl_command_queue_properties properties = 0)
      : Client(functions, limits, std::move(options)) {
    surveyed = survey();
    REQUIRE(!surveyed.devices.empty());
    device = surveyed.devices[0].id;
    context = new_id();
    const auto handle = named<cl_device_id>(device);
    cl_int code = 0;
    call<api::FnId::clCreateContext>(context, 0, nullptr, 1, &handle, nullptr, nullptr, &code);
    queue = new_queue(properties);
  }
  ObjectId new_queue(cl_command_queue_properties properties) {
    const ObjectId id = new_id();
    cl_int code = 0;
    call<api::FnId::clCreateCommandQueue>(id, 0, named<cl_context>(context), named<cl_device_id>(device), properties,
                                          &code);
    return id;
  }
  ObjectId new_buffer(size_t bytes) {
    const ObjectId id = new_id();
    cl_int code = 0;
    call<api::FnId::clCreateBuffer>(id, 0, named<cl_context>(context), cl_mem_flags{CL_MEM_READ_WRITE}, bytes, nullptr,
                                    &code);
    return id;
  }
  ObjectId new_program(const std::string& source, wire::Built* built = nullptr, const std::string& options = "") {
    const ObjectId id = new_id();
    const char* text = source.c_str();
    const size_t length = source.size();
    cl_int code = 0;
    call<api::FnId::clCreateProgramWithSource>(id, 0, named<cl_context>(context), 1, &text, &length, &code);
    wire::Build ask;
    ask.program = id;
    ask.options = options;
    wire::Built answer = build(ask);
    if (built)
      *built = std::move(answer);
    else
      CHECK(answer.code == CL_SUCCESS);
    return id;
  }
  ObjectId new_kernel(ObjectId program, const char* name) {
    const ObjectId id = new_id();
    cl_int code = 0;
    call<api::FnId::clCreateKernel>(id, 0, named<cl_program>(program), name, &code);
    return id;
  }
  ObjectId new_user_event() {
    const ObjectId id = new_id();
    cl_int code = 0;
    call<api::FnId::clCreateUserEvent>(id, 0, named<cl_context>(context), &code);
    return id;
  }
  void set_user_event(ObjectId event, cl_int status) {
    call<api::FnId::clSetUserEventStatus>(0, 0, named<cl_event>(event), status);
  }
  // A launch of `items` work items; its event.
  ObjectId launch(ObjectId kernel, uint64_t items, std::vector<wire::KernelArg> args = {}, wire::Ids waits = {},
                  bool with_event = true) {
    wire::Launch m;
    m.queue = queue;
    m.kernel = kernel;
    m.event = with_event ? new_id() : 0;
    m.dimensions = 1;
    m.global = {items, 1, 1};
    m.waits = std::move(waits);
    m.args = std::move(args);
    send(m);
    return m.event;
  }

  wire::Surveyed surveyed;
  ObjectId device = 0, context = 0, queue = 0;
};

inline wire::KernelArg object_arg(uint32_t index, ObjectId id) {
  wire::KernelArg arg;
  arg.index = index;
  arg.form = wire::KernelArg::Form::Object;
  arg.object = id;
  return arg;
}
// REQUIRES: `value` lives until the launch is sent.
template <class T>
wire::KernelArg value_arg(uint32_t index, const T& value) {
  wire::KernelArg arg;
  arg.index = index;
  arg.value = {reinterpret_cast<const uint8_t*>(&value), sizeof value};
  return arg;
}

}  // namespace gt::exec
