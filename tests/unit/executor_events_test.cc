// Events of an executor: who is told what and when, and how errors spread.
#include <chrono>
#include <thread>

#include "traces/base/clock.h"
#include "tests/unit/executor_client.h"

namespace gt::exec {
namespace {

using api::FnId;

constexpr const char* Source = "kernel void add(global int* a, int n) { a[get_global_id(0)] += n; }";

// A client with a kernel whose arguments are set.
struct Launching : Ready {
  explicit Launching(Options options = {}, cl_command_queue_properties properties = 0)
      : Ready(real_driver(), {}, std::move(options), properties) {
    buffer = new_buffer(64);
    kernel = new_kernel(new_program(Source), "add");
    const int one = 1, zero = 0;
    call<FnId::clEnqueueFillBuffer>(0, 0, named<cl_command_queue>(queue), named<cl_mem>(buffer), &zero, sizeof zero,
                                    size_t{0}, size_t{64}, 0, nullptr, nullptr);
    launch(kernel, 1, {object_arg(0, buffer), value_arg(1, one)}, {}, false);
    CHECK(finish(queue) == CL_SUCCESS);
    CHECK(failures.empty());
  }
  bool is_told(ObjectId event) {
    const std::lock_guard lock(mutex);
    return completions.contains(event);
  }
  void subscribe(ObjectId event) {
    wire::Subscribe m;
    m.event = event;
    send(m);
  }
  int first() { return static_cast<int>(read(queue, buffer, 0, 4)[0]); }

  ObjectId buffer = 0, kernel = 0;
};

TEST_CASE("a command waits for a user event, and its completion is told when it is over") {
  Launching client;
  const ObjectId user = client.new_user_event();
  const ObjectId event = client.launch(client.kernel, 1, {}, {user});
  client.subscribe(event);
  CHECK_FALSE(client.is_told(event));
  client.set_user_event(user, CL_COMPLETE);
  CHECK(client.completion(event).status == CL_COMPLETE);
  CHECK(client.first() == 2);
}

TEST_CASE("a user event that fails fails what waits for it, and what waits for that") {
  Launching client({}, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const ObjectId user = client.new_user_event();
  const ObjectId first = client.launch(client.kernel, 1, {}, {user});
  const ObjectId second = client.launch(client.kernel, 1, {}, {first});
  client.set_user_event(user, -7);
  CHECK(client.subscribed(first).status < 0);
  CHECK(client.subscribed(second).status < 0);
}

TEST_CASE("what is enqueued behind an event that has failed already fails, whatever the command is") {
  Launching client;
  const ObjectId user = client.new_user_event();
  const ObjectId before = client.launch(client.kernel, 1, {}, {user});
  client.set_user_event(user, -7);
  CHECK(client.subscribed(before).status < 0);
  for (const ObjectId failed : {user, before}) {
    CHECK(client.subscribed(client.launch(client.kernel, 1, {}, {failed})).status < 0);
    wire::Read m;
    m.queue = client.queue;
    m.mem = client.buffer;
    m.event = client.new_id();
    m.waits = {failed};
    m.part.region[0] = m.bytes = 4;
    client.send(m);
    CHECK(client.completion(m.event).status < 0);
    const ObjectId marker = client.new_id();
    const cl_event list = named<cl_event>(failed);
    cl_event wanted = nullptr;
    client.call<FnId::clEnqueueMarkerWithWaitList>(0, marker, named<cl_command_queue>(client.queue), 1, &list, &wanted);
    CHECK(client.subscribed(marker).status < 0);
  }
  CHECK(client.finish(client.queue) == CL_SUCCESS);
  CHECK(client.first() == 1);
}

TEST_CASE("a launch that is refused is told, and what waits for it fails as if it had run and failed") {
  Launching client;
  const ObjectId none = client.new_id();
  const ObjectId event = client.launch(none, 1);
  const wire::Failed failed = client.failure();
  CHECK(failed.fn == static_cast<uint16_t>(FnId::clEnqueueNDRangeKernel));
  CHECK(failed.code == CL_INVALID_KERNEL);
  CHECK(failed.object == client.queue);
  CHECK(failed.event == event);
  CHECK(client.subscribed(event).status == CL_INVALID_KERNEL);
  const ObjectId after = client.launch(client.kernel, 1, {}, {event});
  CHECK(client.failure().code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  CHECK(client.subscribed(after).status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  const uint64_t objects = client.executor->counters().objects;
  client.call<FnId::clReleaseEvent>(0, 0, named<cl_event>(event));
  CHECK(client.executor->counters().objects == objects - 1);
  client.launch(client.kernel, 1);
  CHECK(client.first() == 2);
  CHECK(client.failures.empty());
}

TEST_CASE("a read that is refused is told at once") {
  Launching client;
  wire::Read m;
  m.queue = client.queue;
  m.mem = client.buffer;
  m.event = client.new_id();
  m.part.origin[0] = 60;
  m.part.region[0] = m.bytes = 5;
  client.send(m);
  CHECK(client.completion(m.event).status == CL_INVALID_VALUE);
}

TEST_CASE("an event is told although a later one that was asked for first is not over") {
  Launching client;
  const ObjectId user = client.new_user_event();
  const ObjectId early = client.launch(client.kernel, 1);
  const ObjectId late = client.launch(client.kernel, 1, {}, {user});
  client.subscribe(late);
  CHECK(client.subscribed(early).status == CL_COMPLETE);
  CHECK_FALSE(client.is_told(late));
  client.set_user_event(user, CL_COMPLETE);
  CHECK(client.completion(late).status == CL_COMPLETE);
}

TEST_CASE("any number of events that are not over does not hold up another") {
  Launching client({}, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const ObjectId user = client.new_user_event();
  std::vector<ObjectId> blocked;
  for (int i = 0; i < 100; ++i) blocked.push_back(client.launch(client.kernel, 1, {}, {user}));
  for (const ObjectId event : blocked) client.subscribe(event);
  CHECK(client.subscribed(client.launch(client.kernel, 1)).status == CL_COMPLETE);
  CHECK_FALSE(client.is_told(blocked[0]));
  client.set_user_event(user, CL_COMPLETE);
  for (const ObjectId event : blocked) CHECK(client.completion(event).status == CL_COMPLETE);
}

TEST_CASE("device times are told in the executor's clock") {
  Launching client({}, CL_QUEUE_PROFILING_ENABLE);
  const auto before = static_cast<int64_t>(monotonic_ns());
  const wire::Completion told = client.subscribed(client.launch(client.kernel, 1));
  CHECK(told.start_ns >= before);
  CHECK(told.start_ns <= told.end_ns);
  CHECK(told.end_ns <= static_cast<int64_t>(monotonic_ns()) + 1'000'000);
}

TEST_CASE("what kernels printed arrives before what says that they are over") {
  std::atomic<int> left{0};
  Options options;
  options.take_printed = [&] { return left.exchange(0) ? std::string("one\n") : std::string(); };
  Launching client(std::move(options));
  left = 1;
  const ObjectId event = client.launch(client.kernel, 1);
  client.subscribed(event);
  CHECK(client.printed == "one\n");
  CHECK(client.order == std::vector<std::string>{"printed", "completed " + std::to_string(event)});
}

TEST_CASE("finish waits for all queues, and knows which there are") {
  Launching client;
  const ObjectId other = client.new_queue(0), user = client.new_user_event();
  client.launch(client.kernel, 1, {}, {user});
  wire::Finish m;
  m.reply = 1000;
  client.send(m);
  CHECK(client.finish(other) == CL_SUCCESS);
  CHECK_FALSE(client.replies.contains(1000));
  client.set_user_event(user, CL_COMPLETE);
  CHECK(client.wait_for(client.replies, 1000) == Bytes(4, 0));
  CHECK(client.finish(client.new_id()) == CL_INVALID_COMMAND_QUEUE);
}

TEST_CASE("a client of this process waits in the driver itself") {
  Launching client;
  int by_itself = 0;
  for (int i = 0; i < 5000 && by_itself == 0; ++i) {
    client.launch(client.kernel, 1, {}, {}, false);
    CHECK(client.finish(client.queue) == CL_SUCCESS);
    const std::lock_guard lock(client.mutex);
    by_itself += client.told_by == std::this_thread::get_id();
  }
  // Not each time: a thread that was interrupted after it told of something, as the one that built, delivers the next,
  // and where others want the processors that happens for long.
  CHECK(by_itself > 0);
}

TEST_CASE("a client of this process that waits in the driver holds up no other of its threads") {
  Launching client;
  const ObjectId user = client.new_user_event();
  client.launch(client.kernel, 1, {}, {user}, false);
  const ObjectId other = client.new_queue(0);
  std::thread sets([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(client.finish(other) == CL_SUCCESS);
    const ObjectId marker = client.new_id();
    cl_event wanted = nullptr;
    client.call<FnId::clEnqueueMarkerWithWaitList>(0, marker, named<cl_command_queue>(other), 0, nullptr, &wanted);
    CHECK(client.subscribed(marker).status == CL_COMPLETE);
    client.set_user_event(user, CL_COMPLETE);
  });
  CHECK(client.finish(client.queue) == CL_SUCCESS);
  sets.join();
  CHECK(client.first() == 2);
}

TEST_CASE("what waits for a user event that nobody can complete any more fails") {
  Launching client;
  const ObjectId user = client.new_user_event();
  const ObjectId launched = client.launch(client.kernel, 1, {}, {user});
  client.subscribe(launched);
  client.call<FnId::clReleaseEvent>(0, 0, named<cl_event>(user));
  CHECK(client.completion(launched).status < 0);
}

TEST_CASE("the end of a session ends what waits for the client") {
  Launching client;
  const ObjectId user = client.new_user_event();
  client.subscribe(client.launch(client.kernel, 1, {}, {user}));
  const uint64_t before = monotonic_ns();
  client.executor.reset();
  CHECK(monotonic_ns() - before < 1'500'000'000);
}

}  // namespace
}  // namespace gt::exec
