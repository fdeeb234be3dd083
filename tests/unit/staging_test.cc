// Staged transfers on the fake driver: what arrives, whatever call the driver refuses, and whether every event, buffer
// and queue is let go of.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "tests/fake_cl/table.h"
#include "tests/random_bytes.h"
#include "traces/base/clock.h"
#include "transport/staging/agent.h"
#include "transport/staging/stager.h"

namespace gt::staging {
namespace {

cl_mem new_buffer(size_t bytes) {
  const size_t least = std::max<size_t>(bytes, 1);
  return fake::fake_clCreateBuffer(fake::any_context(), CL_MEM_READ_WRITE, least, nullptr, nullptr);
}
cl_event new_user_event(cl_int status) {
  const cl_event event = fake::fake_clCreateUserEvent(fake::any_context(), nullptr);
  if (status <= CL_COMPLETE) ::clSetUserEventStatus(event, status);
  return event;
}

void copy_box(char* to, const char* from, const size_t* region, size_t to_row, size_t to_slice, size_t from_row,
              size_t from_slice) {
  for (size_t z = 0; z < region[2]; ++z)
    for (size_t y = 0; y < region[1]; ++y)
      std::memcpy(to + z * to_slice + y * to_row, from + z * from_slice + y * from_row, region[0]);
}
size_t at(const size_t* origin, size_t row, size_t slice) { return origin[0] + origin[1] * row + origin[2] * slice; }

std::vector<Spent> spent;  // as the stager told it

struct Bench {
  ClFunctions cl = fake::table();
  CopyThreads copy_threads;
  std::unique_ptr<Stager> stager = std::make_unique<Stager>();
  cl_mem mem = nullptr;
  cl_command_queue queue = nullptr;
  int moves = 0;

  explicit Bench(size_t bytes, unsigned helpers = 2) {
    fake::start_anew();
    copy_threads.start(helpers);
    open(nullptr, [](const Spent& s) { spent.push_back(s); });
    spent.clear();
    mem = new_buffer(bytes);
    queue = fake::fake_clCreateCommandQueue(fake::any_context(), fake::device(), 0, nullptr);
  }
  ~Bench() {
    stager->close();
    ::clReleaseMemObject(mem);
    ::clReleaseCommandQueue(queue);
    CHECK(fake::alive() == 0);
  }
  void open(Agent* agents, void (*told)(const Spent&)) {
    stager->open(cl, fake::any_context(), fake::device(), copy_threads, agents, nullptr, told);
  }
  void open_anew(Agent* agents) {
    stager->close();
    stager = std::make_unique<Stager>();
    open(agents, nullptr);
  }
  char* bytes() { return reinterpret_cast<char*>(mem->data); }
  std::vector<char> device() { return {bytes(), bytes() + mem->size}; }
  void put(const std::vector<char>& all) { std::copy(all.begin(), all.end(), bytes()); }
  Request request() const {
    Request r;
    r.queue.queue = queue;
    r.queue.context = fake::any_context();
    return r;
  }
  // As the runtime does it: what is not taken goes directly.
  bool move(const HostTransfer& m, bool blocking, cl_event* event = nullptr) {
    Request r = request();
    r.transfer = m;
    r.blocking = blocking;
    r.queue.shared = moves++ % 2 == 0;  // behind a placeholder, and as commands of the queue
    r.event = event;
    cl_int error = 1;
    const bool taken = stager->transfer(r, &error);
    if (taken) CHECK(error == CL_SUCCESS);
    return taken;
  }
};

std::vector<char> random_bytes(std::mt19937& random, size_t n) {
  std::vector<char> v(n);
  testing::randomize(random, v);
  return v;
}

TEST_CASE("copies by several threads equal memcpy") {
  std::mt19937 random(1);
  CopyThreads copy_threads;
  copy_threads.start(3);
  const std::vector<char> from = random_bytes(random, 9 << 20);
  const auto one_thread = [&](unsigned seed) {
    std::mt19937 r(seed);
    std::vector<char> to(from.size()), want(from.size());
    for (int i = 0; i < 60; ++i) {
      const size_t bytes = r() % (size_t{2} << (r() % 22));
      Copy c;
      c.to = to.data() + r() % 1000;
      c.from = from.data() + r() % 1000;
      c.row_bytes = bytes;
      if (r() % 2) {
        c.row_bytes = r() % 5000;
        c.rows = r() % 60 + 1;
        c.slices = r() % 4 + 1;
        c.to_row_pitch = c.row_bytes + r() % 50;
        c.from_row_pitch = c.row_bytes + r() % 50;
        c.to_slice_pitch = c.to_row_pitch * c.rows + r() % 99;
        c.from_slice_pitch = c.from_row_pitch * c.rows + r() % 99;
      }
      copy_threads.copy(c);
      for (size_t z = 0; z < c.slices; ++z)
        for (size_t y = 0; y < c.rows; ++y)
          std::memcpy(want.data() + (c.to - to.data()) + z * c.to_slice_pitch + y * c.to_row_pitch,
                      c.from + z * c.from_slice_pitch + y * c.from_row_pitch, c.row_bytes);
    }
    return to == want;
  };
  bool good[4] = {};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) threads.emplace_back([&, t] { good[t] = one_thread(t + 5); });
  for (std::thread& t : threads) t.join();
  for (const bool g : good) CHECK(g);
}

TEST_CASE("ranges arrive whole, both ways, at every size around a chunk") {
  std::mt19937 random(2);
  for (const size_t bytes : {size_t{1}, SmallestChunk - 1, SmallestChunk, SmallestChunk + 1, 8 * SmallestChunk + 7,
                             8 * LargestChunk, 9 * LargestChunk + 3}) {
    Bench bench(bytes + 100);
    const std::vector<char> data = random_bytes(random, bytes);
    CHECK(bench.move(range_transfer(Way::ToDevice, bench.mem, 100, bytes, data.data()), true));
    CHECK(std::memcmp(bench.bytes() + 100, data.data(), bytes) == 0);
    std::vector<char> back(bytes);
    cl_event event{};
    CHECK(bench.move(range_transfer(Way::ToHost, bench.mem, 100, bytes, back.data()), true, &event));
    CHECK(back == data);
    CHECK(event->status == CL_COMPLETE);
    ::clReleaseEvent(event);
  }
}

TEST_CASE("so do copies to and from shared virtual memory, whatever the driver refuses") {
  std::mt19937 random(9);
  for (const size_t bytes : {size_t{1}, SmallestChunk + 1, 9 * LargestChunk + 3}) {
    for (int refused = 0; refused < 20; ++refused) {
      Bench bench(0);
      const std::vector<char> data = random_bytes(random, bytes);
      std::vector<char> shared(bytes + 2, 'x'), back(bytes);
      bench.moves = refused;
      if (refused > 0) fake::refuse_at = fake::made_calls + refused / 2;
      if (!bench.move(svm_transfer(Way::ToDevice, shared.data() + 1, bytes, data.data()), true)) continue;
      CHECK(std::memcmp(shared.data() + 1, data.data(), bytes) == 0);
      CHECK((shared.front() == 'x' && shared.back() == 'x'));
      if (!spent.empty()) CHECK(spent.back().shape == HostTransfer::Shape::Svm);
      if (bench.move(svm_transfer(Way::ToHost, shared.data() + 1, bytes, back.data()), true)) CHECK(back == data);
    }
  }
}

// A box of random shape, moved both ways, equals the same box moved row by row.
void one_box(std::mt19937& r, Bench& bench, std::vector<char>& host) {
  const size_t region[3] = {r() % 3000 + 1, r() % 40 + 1, r() % 8 + 1};
  const size_t host_row = region[0] + (r() % 2 ? r() % 100 : 0), mem_row = region[0] + (r() % 2 ? r() % 100 : 0);
  const size_t host_slice = host_row * (region[1] + r() % 3), mem_slice = mem_row * (region[1] + r() % 3);
  const size_t host_origin[3] = {r() % 10, r() % 2, r() % 2}, mem_origin[3] = {r() % 10, r() % 2, r() % 2};
  std::vector<char> want = bench.device();
  copy_box(want.data() + at(mem_origin, mem_row, mem_slice), host.data() + at(host_origin, host_row, host_slice),
           region, mem_row, mem_slice, host_row, host_slice);
  const auto box = [&](Way way) {
    return box_transfer(way, bench.mem, mem_origin, host_origin, region, mem_row, mem_slice, host_row, host_slice,
                        host.data());
  };
  CHECK(bench.move(box(Way::ToDevice), true));
  CHECK(bench.device() == want);
  std::vector<char> filled(host.size(), 'x'), expected = filled;
  copy_box(expected.data() + at(host_origin, host_row, host_slice),
           bench.bytes() + at(mem_origin, mem_row, mem_slice), region, host_row, host_slice, mem_row,
           mem_slice);
  filled.swap(host);
  const bool taken = bench.move(box_transfer(Way::ToHost, bench.mem, mem_origin, host_origin, region, mem_row,
                                             mem_slice, host_row, host_slice, host.data()),
                                true);
  filled.swap(host);
  CHECK(taken);
  CHECK(filled == expected);
}

TEST_CASE("boxes arrive whole, and nothing beside them is touched") {
  std::mt19937 random(3);
  Bench bench(3 << 20);
  std::vector<char> host = random_bytes(random, 3 << 20);
  for (int i = 0; i < 200; ++i) one_box(random, bench, host);
}

TEST_CASE("a call that the driver refuses costs speed, never data") {
  std::mt19937 random(4);
  const std::vector<char> data = random_bytes(random, 5 * LargestChunk);
  for (const size_t bytes : {size_t{1000}, 3 * SmallestChunk, data.size()}) {
    for (int refused = 0; refused < 80; ++refused) {
      Bench bench(bytes, 0);
      bench.moves = refused;
      fake::refuse_at = fake::made_calls + refused / 2;
      if (bench.move(range_transfer(Way::ToDevice, bench.mem, 0, bytes, data.data()), true))
        CHECK(std::memcmp(bench.bytes(), data.data(), bytes) == 0);
      std::memcpy(bench.bytes(), data.data(), bytes);
      std::vector<char> back(bytes);
      cl_event event{};
      if (bench.move(range_transfer(Way::ToHost, bench.mem, 0, bytes, back.data()), true, &event)) {
        CHECK(std::memcmp(back.data(), data.data(), bytes) == 0);
        ::clReleaseEvent(event);
      }
    }
  }
}

uint64_t held_up_ns = 0;  // by the queue, before the first command could run

TEST_CASE("what a transfer took is told, without its waiting for the queue") {
  std::mt19937 random(8);
  const std::vector<char> data = random_bytes(random, 4 << 20);
  std::vector<char> back(data.size());
  for (int i = 0; i < 4; ++i) {  // both ways, behind a placeholder and as commands of the queue
    Bench bench(data.size());
    bench.moves = i / 2;
    bench.cl.clWaitForEvents = [](cl_uint n, const cl_event* list) {
      if (held_up_ns > 0) return ::clWaitForEvents(n, list);
      const uint64_t start = monotonic_ns();
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      held_up_ns = monotonic_ns() - start;
      return ::clWaitForEvents(n, list);
    };
    held_up_ns = 0;
    const Way way = i % 2 ? Way::ToHost : Way::ToDevice;
    const uint64_t start = monotonic_ns();
    CHECK(bench.move(range_transfer(way, bench.mem, 0, data.size(), i % 2 ? back.data() : data.data()), true));
    const uint64_t whole_ns = monotonic_ns() - start;
    REQUIRE(spent.size() == 1);
    CHECK(spent[0].way == way);
    CHECK(spent[0].bytes == data.size());
    CHECK_FALSE(spent[0].copying_only);
    CHECK(spent[0].ns > 0);
    CHECK(spent[0].ns <= whole_ns - held_up_ns);
  }
}

TEST_CASE("of a transfer of one chunk copying is told; of one that the driver moved in part, nothing") {
  const std::vector<char> data(4 << 20, 'a');
  Bench bench(data.size());
  CHECK(bench.move(range_transfer(Way::ToDevice, bench.mem, 0, SmallestChunk, data.data()), true));
  REQUIRE(spent.size() == 1);
  CHECK(spent[0].copying_only);
  for (const int refused : {-1, 1, 5}) {
    spent.clear();
    bench.moves = 1;  // as commands of the queue: each part is one call of the driver's
    if (refused > 0) fake::refuse_at = fake::made_calls + refused;
    CHECK(bench.move(range_transfer(Way::ToDevice, bench.mem, 0, data.size(), data.data()), true));
    CHECK(spent.size() == (refused > 0 ? 0 : 1));
  }
}

TEST_CASE("a transfer behind a command that failed moves nothing") {
  Bench bench(4 << 20);
  const std::vector<char> data(4 << 20, 'a');
  const cl_event before = new_user_event(-5);
  Request r = bench.request();
  r.transfer = range_transfer(Way::ToDevice, bench.mem, 0, data.size(), data.data());
  r.waits = 1;
  r.wait_list = &before;
  cl_int error = 0;
  for (const bool shared : {true, false}) {
    r.queue.shared = shared;
    CHECK_FALSE(bench.stager->transfer(r, &error));  // the program's own call says why
    CHECK(bench.device() == std::vector<char>(4 << 20));
  }
  ::clReleaseEvent(before);
}

TEST_CASE("bytes are copied when what is waited for is over: it may be what brings them") {
  Bench bench(4 << 20);
  std::vector<char> data(1000, 'a');
  const cl_event before = new_user_event(CL_COMPLETE);
  Request r = bench.request();
  r.transfer = range_transfer(Way::ToDevice, bench.mem, 0, data.size(), data.data());
  r.waits = 1;
  r.wait_list = &before;
  r.blocking = false;
  cl_int error = 0;
  CHECK_FALSE(bench.stager->transfer(r, &error));  // nobody could wait
  static std::vector<char>* coming = nullptr;
  coming = &data;
  bench.cl.clWaitForEvents = [](cl_uint n, const cl_event* list) {
    std::fill(coming->begin(), coming->end(), 'b');
    return ::clWaitForEvents(n, list);
  };
  r.blocking = true;
  CHECK(bench.stager->transfer(r, &error));
  CHECK(bench.device()[0] == 'b');
  ::clReleaseEvent(before);
}

TEST_CASE("nothing is taken that cannot be put into its queue's order") {
  Bench bench(4 << 20);
  const std::vector<char> data(4 << 20);
  Request r = bench.request();
  r.queue.in_order = false;
  r.queue.has_barriers = true;
  r.transfer = range_transfer(Way::ToDevice, bench.mem, 0, data.size(), data.data());
  cl_int error = 0;
  CHECK_FALSE(bench.stager->transfer(r, &error));
  r.queue.has_barriers = false;
  CHECK(bench.stager->transfer(r, &error));
  bench.stager->close();
  CHECK_FALSE(bench.stager->transfer(r, &error));
}

TEST_CASE("what nobody waits for runs in the background and completes its event") {
  static Agent agents[2];  // as in a process: never destroyed
  std::mt19937 random(6);
  const std::vector<char> data = random_bytes(random, 6 << 20);
  Bench bench(data.size());
  bench.open_anew(agents);
  cl_event event{};
  CHECK(bench.move(range_transfer(Way::ToDevice, bench.mem, 0, data.size(), data.data()), false, &event));
  for (int i = 0; i < 5000 && event->status != CL_COMPLETE; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  agents[0].wind_up(5000);
  CHECK(event->status == CL_COMPLETE);
  CHECK(bench.device() == data);
  ::clReleaseEvent(event);
  CHECK_FALSE(agents[0].reserve());  // it takes no more
}

std::atomic<bool> hold_waits{false}, in_a_wait{false};

TEST_CASE("settling waits for the copies that run, and for no transfer that cannot begin") {
  static Agent agents[2];
  std::mt19937 random(9);
  Bench bench(6 << 20);
  std::vector<char> back(6 << 20);
  bench.put(random_bytes(random, 6 << 20));
  bench.cl.clWaitForEvents = [](cl_uint n, const cl_event* list) {
    in_a_wait = true;
    while (hold_waits) std::this_thread::yield();
    return ::clWaitForEvents(n, list);
  };
  bench.open_anew(agents);
  agents[1].settle(60'000);  // nothing is there
  cl_int error = 0;
  cl_event user = new_user_event(CL_SUBMITTED), event{};
  Request r = bench.request();
  r.transfer = range_transfer(Way::ToHost, bench.mem, 0, back.size(), back.data());
  r.blocking = false;
  r.waits = 1;
  r.wait_list = &user;
  r.event = &event;
  CHECK(bench.stager->transfer(r, &error));
  const uint64_t start = monotonic_ns();
  agents[1].settle(60'000);
  CHECK(monotonic_ns() - start < 30'000'000'000);
  hold_waits = true;
  bench.cl.clSetUserEventStatus(user, CL_COMPLETE);
  while (!in_a_wait) std::this_thread::yield();
  std::atomic<bool> settled{false};
  std::thread waits([&] {
    agents[1].settle(60'000);
    settled = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK_FALSE(settled);
  hold_waits = false;
  waits.join();
  CHECK(back == bench.device());
  CHECK(event->status == CL_COMPLETE);
  ::clReleaseEvent(event);
  ::clReleaseEvent(user);
  agents[1].wind_up(5000);
}

std::atomic<int> looks{0};

TEST_CASE("while the process forks no agent is inside the driver, whose locks the child would find taken") {
  static Agent agents[2];
  Bench bench(1 << 20);
  std::vector<char> back(1 << 20);
  bench.cl.clGetEventInfo = [](cl_event e, cl_event_info name, size_t room, void* value, size_t* size) {
    ++looks;
    return ::clGetEventInfo(e, name, room, value, size);
  };
  bench.open_anew(agents);
  cl_int error = 0;
  cl_event user = new_user_event(CL_SUBMITTED), event{};
  Request r = bench.request();
  r.transfer = range_transfer(Way::ToHost, bench.mem, 0, back.size(), back.data());
  r.blocking = false;
  r.waits = 1;
  r.wait_list = &user;
  r.event = &event;
  CHECK(bench.stager->transfer(r, &error));
  const auto more_looks = [] {
    const int before = looks;
    while (looks < before + 2) std::this_thread::yield();
  };
  more_looks();  // at what the transfer waits for
  for (int i = 0; i < 100; ++i) {
    agents[1].lock_for_fork(60'000);
    const int before = looks;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    CHECK(looks == before);
    agents[1].unlock_after_fork();
  }
  more_looks();
  bench.cl.clSetUserEventStatus(user, CL_COMPLETE);
  agents[1].wind_up(5000);
  CHECK(event->status == CL_COMPLETE);
  ::clReleaseEvent(event);
  ::clReleaseEvent(user);
}

}  // namespace
}  // namespace gt::staging
