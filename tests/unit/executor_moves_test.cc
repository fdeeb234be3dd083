// Moves between two contexts of one executor, on a real driver (PoCL).
#include "tests/unit/executor_client.h"

namespace gt::exec {
namespace {

using api::FnId;
using Shape = wire::Part::Shape;

Bytes pattern(size_t bytes, uint32_t seed) {
  Bytes all(bytes);
  for (uint8_t& b : all) b = static_cast<uint8_t>((seed = seed * 1664525u + 1013904223u) >> 24);
  return all;
}

// A client with two contexts; what is made "there" is the second one's.
struct Two : Ready {
  Two() : Ready(real_driver()) {
    const ObjectId here = context, first = queue;
    const auto handle = named<cl_device_id>(device);
    cl_int code = 0;
    context = there = new_id();
    call<FnId::clCreateContext>(there, 0, nullptr, 1, &handle, nullptr, nullptr, &code);
    queue_there = new_queue(0);
    context = here;
    queue = first;
  }
  ObjectId new_buffer_there(size_t bytes) {
    const ObjectId here = std::exchange(context, there);
    const ObjectId buffer = new_buffer(bytes);
    context = here;
    return buffer;
  }
  ObjectId new_image(ObjectId in) {
    const ObjectId id = new_id();
    const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
    cl_image_desc desc{};
    desc.image_type = CL_MEM_OBJECT_IMAGE2D;
    desc.image_width = 32;
    desc.image_height = 16;
    cl_int code = 0;
    call<FnId::clCreateImage>(id, 0, named<cl_context>(in), cl_mem_flags{CL_MEM_READ_WRITE}, &format, &desc, nullptr,
                              &code);
    return id;
  }
  // Its event.
  ObjectId move(ObjectId from, ObjectId to, uint64_t bytes, wire::Ids waits = {}, uint64_t offset = 0) {
    wire::Move m;
    m.from = from;
    m.to = to;
    m.part.origin[0] = offset;
    m.part.region = {bytes, 1, 1};
    return move(m, std::move(waits));
  }
  ObjectId move(wire::Move m, wire::Ids waits = {}) {
    m.waits = std::move(waits);
    if (m.event == 0) m.event = new_id();
    send(m);
    return m.event;
  }
  Bytes read_there(ObjectId mem, uint64_t bytes, ObjectId after) {
    wire::Read m;
    m.queue = queue_there;
    m.mem = mem;
    m.event = new_id();
    m.part.region[0] = m.bytes = bytes;
    m.waits = {after};
    send(m);
    return completion(m.event).status == CL_COMPLETE ? data[m.event] : Bytes{};
  }
  // Contents of a buffer here, which are there when it returns.
  Bytes put(ObjectId mem, uint32_t seed) {
    const Bytes all = pattern(64, seed);
    write(queue, mem, 0, all);
    CHECK(finish(queue) == CL_SUCCESS);
    return all;
  }
  void mark(ObjectId in, ObjectId after, ObjectId event) {
    const auto wait = named<cl_event>(after);
    cl_event wanted = nullptr;
    call<FnId::clEnqueueMarkerWithWaitList>(0, event, named<cl_command_queue>(in), 1, &wait, &wanted);
  }
  bool is_told(ObjectId event) {
    const std::lock_guard lock(mutex);
    return completions.contains(event);
  }

  ObjectId there = 0, queue_there = 0;
};

TEST_CASE("a buffer's contents go to the other context, behind what writes them and ahead of what waits") {
  Two client;
  const ObjectId here = client.new_buffer(4096), there = client.new_buffer_there(4096);
  for (uint32_t round = 0; round < 20; ++round) {
    const Bytes put = pattern(4096, round);
    const ObjectId wrote = client.new_id();
    client.write(client.queue, here, 0, put, wrote);
    const ObjectId moved = client.move(here, there, 4096, {wrote});
    CHECK(client.read_there(there, 4096, moved) == put);
    CHECK(client.subscribed(moved).status == CL_COMPLETE);
    const ObjectId back = client.move(there, here, 1000, {moved}, 1000);  // a part
    CHECK(client.subscribed(back).status == CL_COMPLETE);
  }
  CHECK(client.failures.empty());
}

TEST_CASE("a part goes to its own place") {
  Two client;
  const ObjectId here = client.new_buffer(64), there = client.new_buffer_there(64);
  Bytes wanted = client.put(here, 1);
  const ObjectId whole = client.move(here, there, 64);
  CHECK(client.read_there(there, 64, whole) == wanted);
  const Bytes other = client.put(here, 2);
  std::copy_n(other.begin() + 24, 16, wanted.begin() + 24);
  const ObjectId part = client.move(here, there, 16, {}, 24);
  CHECK(client.read_there(there, 64, part) == wanted);
  CHECK(client.failures.empty());
}

TEST_CASE("what is released before a move has begun arrives all the same") {
  Two client;
  const ObjectId here = client.new_buffer(64), there = client.new_buffer_there(64), user = client.new_user_event();
  const Bytes put = client.put(here, 7);
  const ObjectId moved = client.move(here, there, 64, {user});
  const ObjectId marked = client.new_id();
  client.mark(client.queue_there, moved, marked);
  client.call<FnId::clReleaseEvent>(0, 0, named<cl_event>(moved));
  client.call<FnId::clReleaseMemObject>(0, 0, named<cl_mem>(here));
  client.call<FnId::clReleaseContext>(0, 0, named<cl_context>(client.context));
  CHECK_FALSE(client.is_told(marked));
  client.set_user_event(user, CL_COMPLETE);
  CHECK(client.read_there(there, 64, marked) == put);
  CHECK(client.failures.empty());
}

TEST_CASE("an image goes as a whole, and only to an image") {
  Two client;
  const ObjectId here = client.new_image(client.context), there = client.new_image(client.there);
  const Bytes put = pattern(size_t{32} * 16 * 4, 9);
  wire::Write write;
  write.queue = client.queue;
  write.mem = here;
  write.event = client.new_id();
  write.part.shape = Shape::Image;
  write.part.region = {32, 16, 1};
  write.bytes = put.size();
  write.data = put;
  client.send(write);
  wire::Move m;
  m.from = here;
  m.to = there;
  m.part = write.part;
  const ObjectId moved = client.move(m, {write.event});
  wire::Read read;
  read.queue = client.queue_there;
  read.mem = there;
  read.event = client.new_id();
  read.part = write.part;
  read.bytes = put.size();
  read.waits = {moved};
  client.send(read);
  CHECK(client.completion(read.event).status == CL_COMPLETE);
  CHECK(client.data[read.event] == put);
  m.to = client.new_buffer_there(put.size());
  CHECK(client.subscribed(client.move(m)).status == CL_INVALID_MEM_OBJECT);
}

TEST_CASE("what a move waits for may have failed; what waits for a move that failed fails") {
  Two client;
  const ObjectId here = client.new_buffer(64), there = client.new_buffer_there(64), user = client.new_user_event();
  const Bytes put = client.put(here, 3);
  const ObjectId moved = client.move(here, there, 64, {user});
  client.set_user_event(user, -7);
  CHECK(client.read_there(there, 64, moved) == put);
  const ObjectId wrong = client.move(here, there, 65);
  CHECK(client.failure().code == CL_INVALID_VALUE);
  CHECK(client.read_there(there, 64, wrong).empty());
  CHECK(client.completions[client.completions.rbegin()->first].status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
}

TEST_CASE("wrong moves are refused, and nothing happens") {
  Two client;
  const ObjectId here = client.new_buffer(64), there = client.new_buffer_there(64);
  const auto refused = [&](wire::Move m, wire::Ids waits = {}) {
    const ObjectId event = client.move(m, std::move(waits));
    const wire::Failed failed = client.failure();
    CHECK(failed.event == event);
    return failed.code;
  };
  wire::Move good;
  good.from = here;
  good.to = there;
  good.part.region = {64, 1, 1};
  const auto with = [&](auto change) {
    wire::Move m = good;
    change(m);
    return m;
  };
  CHECK(refused(with([](auto& m) { m.from = 999; })) == CL_INVALID_MEM_OBJECT);
  CHECK(refused(with([](auto& m) { m.to = 0; })) == CL_INVALID_MEM_OBJECT);
  CHECK(refused(with([&](auto& m) { m.to = client.queue; })) == CL_INVALID_MEM_OBJECT);
  CHECK(refused(with([](auto& m) { m.part.origin[0] = 1; })) == CL_INVALID_VALUE);
  CHECK(refused(with([](auto& m) { m.part.origin[0] = ~uint64_t{0}; })) == CL_INVALID_VALUE);
  CHECK(refused(with([](auto& m) { m.part.shape = Shape::Box; m.part.region = {8, 8, 1}; })) == CL_INVALID_VALUE);
  CHECK(refused(with([](auto& m) { m.part.shape = Shape::Image; m.part.region = {8, 8, 1}; })) ==
        CL_INVALID_MEM_OBJECT);
  CHECK(refused(with([](auto& m) { m.part.shape = Shape{7}; })) == CL_INVALID_MEM_OBJECT);
  CHECK(refused(good, {client.queue}) == CL_INVALID_EVENT_WAIT_LIST);
  CHECK(refused(with([&](auto& m) { m.event = here; })) == CL_INVALID_VALUE);
  CHECK(client.subscribed(client.move(good)).status == CL_COMPLETE);
}

TEST_CASE("a session ends while moves wait, whatever they wait for") {
  for (int round = 0; round < 20; ++round) {
    Two client;
    const ObjectId here = client.new_buffer(1 << 20), there = client.new_buffer_there(1 << 20);
    const ObjectId user = client.new_user_event();
    for (int i = 0; i < 5; ++i) {
      client.move(here, there, 1 << 20);
      const ObjectId moved = client.move(there, here, 1 << 20, {user});
      client.mark(client.queue, moved, client.new_id());
    }
  }
}

}  // namespace
}  // namespace gt::exec
