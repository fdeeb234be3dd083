// Staged transfers against a device made of plain memory: what arrives, whatever call the driver refuses, and whether
// every event, buffer and queue is let go of.
#include <doctest/doctest.h>

#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "traces/base/clock.h"
#include "transport/staging/agent.h"
#include "transport/staging/stager.h"

namespace gt::staging {
namespace {

// --- A driver that runs each command at once, and refuses the calls that a test tells it to ---

struct Sim {
  std::atomic<int> calls{0};
  std::atomic<int> refuse_at{-1};  // the number of the call that fails
  std::atomic<int> objects{0};     // alive
  bool refuse() { return calls++ == refuse_at; }
};
Sim sim;

struct SimObject {
  std::vector<char> bytes;
  std::atomic<cl_int> status{CL_COMPLETE};
  std::atomic<int> references{1};
  std::vector<SimObject*> later;  // events that complete with this one
};
template <class Handle>
SimObject* object(Handle h) {
  return reinterpret_cast<SimObject*>(h);
}
template <class Handle>
Handle make(cl_int status = CL_COMPLETE, size_t bytes = 0) {
  ++sim.objects;
  auto* o = new SimObject;
  o->status = status;
  o->bytes.resize(bytes);
  return reinterpret_cast<Handle>(o);
}
template <class Handle>
cl_int drop(Handle h) {
  if (--object(h)->references > 0) return CL_SUCCESS;
  --sim.objects;
  delete object(h);
  return CL_SUCCESS;
}
void give_event(cl_event* out, cl_int status = CL_COMPLETE) {
  if (out) *out = make<cl_event>(status);
}

void copy_box(char* to, const char* from, const size_t* region, size_t to_row, size_t to_slice, size_t from_row,
              size_t from_slice) {
  for (size_t z = 0; z < region[2]; ++z)
    for (size_t y = 0; y < region[1]; ++y)
      std::memcpy(to + z * to_slice + y * to_row, from + z * from_slice + y * from_row, region[0]);
}
size_t at(const size_t* origin, size_t row, size_t slice) { return origin[0] + origin[1] * row + origin[2] * slice; }

ClFunctions functions() {
  ClFunctions f;
  f.clCreateBuffer = [](cl_context, cl_mem_flags, size_t, void*, cl_int* err) {
    const bool no = sim.refuse();
    *err = no ? CL_MEM_OBJECT_ALLOCATION_FAILURE : CL_SUCCESS;
    return no ? nullptr : make<cl_mem>();
  };
  f.clRetainMemObject = [](cl_mem m) { return ++object(m)->references, CL_SUCCESS; };
  f.clReleaseMemObject = [](cl_mem m) { return drop(m); };
  f.clCreateCommandQueue = [](cl_context, cl_device_id, cl_command_queue_properties, cl_int* err) {
    const bool no = sim.refuse();
    *err = no ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
    return no ? nullptr : make<cl_command_queue>();
  };
  f.clReleaseCommandQueue = [](cl_command_queue q) { return drop(q); };
  f.clEnqueueWriteBuffer = [](cl_command_queue, cl_mem m, cl_bool, size_t offset, size_t n, const void* p, cl_uint,
                              const cl_event*, cl_event* event) {
    if (sim.refuse()) return CL_OUT_OF_RESOURCES;
    std::memcpy(object(m)->bytes.data() + offset, p, n);
    give_event(event);
    return CL_SUCCESS;
  };
  f.clEnqueueReadBuffer = [](cl_command_queue, cl_mem m, cl_bool, size_t offset, size_t n, void* p, cl_uint,
                             const cl_event*, cl_event* event) {
    if (sim.refuse()) return CL_OUT_OF_RESOURCES;
    std::memcpy(p, object(m)->bytes.data() + offset, n);
    give_event(event);
    return CL_SUCCESS;
  };
  f.clEnqueueWriteBufferRect = [](cl_command_queue, cl_mem m, cl_bool, const size_t* mo, const size_t* ho,
                                  const size_t* region, size_t mr, size_t ms, size_t hr, size_t hs, const void* p,
                                  cl_uint, const cl_event*, cl_event* event) {
    if (sim.refuse()) return CL_OUT_OF_RESOURCES;
    if (hs == 0) hs = hr * region[1];
    copy_box(object(m)->bytes.data() + at(mo, mr, ms), static_cast<const char*>(p) + at(ho, hr, hs), region, mr, ms,
             hr, hs);
    give_event(event);
    return CL_SUCCESS;
  };
  f.clEnqueueReadBufferRect = [](cl_command_queue, cl_mem m, cl_bool, const size_t* mo, const size_t* ho,
                                 const size_t* region, size_t mr, size_t ms, size_t hr, size_t hs, void* p, cl_uint,
                                 const cl_event*, cl_event* event) {
    if (sim.refuse()) return CL_OUT_OF_RESOURCES;
    if (hs == 0) hs = hr * region[1];
    copy_box(static_cast<char*>(p) + at(ho, hr, hs), object(m)->bytes.data() + at(mo, mr, ms), region, hr, hs, mr, ms);
    give_event(event);
    return CL_SUCCESS;
  };
  f.clEnqueueWriteImage = [](cl_command_queue, cl_mem, cl_bool, const size_t*, const size_t*, size_t, size_t,
                             const void*, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; };
  f.clEnqueueReadImage = [](cl_command_queue, cl_mem, cl_bool, const size_t*, const size_t*, size_t, size_t, void*,
                            cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; };
  f.clEnqueueSVMMemcpy = [](cl_command_queue, cl_bool, void* to, const void* from, size_t n, cl_uint, const cl_event*,
                            cl_event* event) {
    if (sim.refuse()) return CL_OUT_OF_RESOURCES;
    std::memcpy(to, from, n);
    give_event(event);
    return CL_SUCCESS;
  };
  f.clEnqueueMarkerWithWaitList = [](cl_command_queue, cl_uint n, const cl_event* list, cl_event* event) {
    if (sim.refuse()) return CL_OUT_OF_RESOURCES;
    const bool waits = n > 0 && object(list[0])->status > CL_COMPLETE;
    give_event(event, waits ? CL_SUBMITTED : CL_COMPLETE);
    if (waits) object(list[0])->later.push_back(object(*event));
    return CL_SUCCESS;
  };
  f.clCreateUserEvent = [](cl_context, cl_int* err) {
    const bool no = sim.refuse();
    *err = no ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
    if (no) return cl_event{};
    cl_event e{};
    give_event(&e, CL_SUBMITTED);
    return e;
  };
  f.clSetUserEventStatus = [](cl_event e, cl_int status) {
    object(e)->status = status;
    for (SimObject* o : object(e)->later) o->status = status;
    return CL_SUCCESS;
  };
  f.clFlush = [](cl_command_queue) { return CL_SUCCESS; };
  f.clWaitForEvents = [](cl_uint, const cl_event* list) {
    return object(list[0])->status == CL_COMPLETE ? CL_SUCCESS : CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  };
  f.clReleaseEvent = [](cl_event e) { return drop(e); };
  f.clRetainEvent = [](cl_event e) { return ++object(e)->references, CL_SUCCESS; };
  f.clGetEventInfo = [](cl_event e, cl_event_info, size_t, void* value, size_t*) {
    *static_cast<cl_int*>(value) = object(e)->status.load();
    return CL_SUCCESS;
  };
  f.clGetEventProfilingInfo = [](cl_event, cl_profiling_info, size_t, void* value, size_t*) {
    *static_cast<cl_ulong*>(value) = 7;
    return CL_SUCCESS;
  };
  return f;
}

std::vector<Spent> spent;  // as the stager told it

struct Bench {
  ClFunctions cl = functions();
  CopyThreads copy_threads;
  std::unique_ptr<Stager> stager = std::make_unique<Stager>();
  cl_mem mem = nullptr;
  cl_command_queue queue = nullptr;
  int moves = 0;

  explicit Bench(size_t bytes, unsigned helpers = 2) {
    sim.calls = sim.objects = 0;
    sim.refuse_at = -1;
    copy_threads.start(helpers);
    stager->open(cl, nullptr, nullptr, copy_threads, nullptr, nullptr, [](const Spent& s) { spent.push_back(s); });
    spent.clear();
    mem = make<cl_mem>(CL_COMPLETE, bytes);
    queue = make<cl_command_queue>();
  }
  ~Bench() {
    stager->close();
    drop(mem);
    drop(queue);
    CHECK(sim.objects == 0);
  }
  std::vector<char>& device() { return object(mem)->bytes; }
  // As the runtime does it: what is not taken goes directly.
  bool move(const HostTransfer& m, bool blocking, cl_event* event = nullptr) {
    Request r;
    r.queue.queue = queue;
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
  for (size_t i = 0; i < n; ++i) v[i] = static_cast<char>(random());
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
    CHECK(std::memcmp(bench.device().data() + 100, data.data(), bytes) == 0);
    std::vector<char> back(bytes);
    cl_event event{};
    CHECK(bench.move(range_transfer(Way::ToHost, bench.mem, 100, bytes, back.data()), true, &event));
    CHECK(back == data);
    CHECK(object(event)->status == CL_COMPLETE);
    drop(event);
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
      if (refused > 0) sim.refuse_at = sim.calls + refused / 2;
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
           bench.device().data() + at(mem_origin, mem_row, mem_slice), region, host_row, host_slice, mem_row,
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
      sim.refuse_at = sim.calls + refused / 2;
      if (bench.move(range_transfer(Way::ToDevice, bench.mem, 0, bytes, data.data()), true))
        CHECK(std::memcmp(bench.device().data(), data.data(), bytes) == 0);
      std::memcpy(bench.device().data(), data.data(), bytes);
      std::vector<char> back(bytes);
      cl_event event{};
      if (bench.move(range_transfer(Way::ToHost, bench.mem, 0, bytes, back.data()), true, &event)) {
        CHECK(std::memcmp(back.data(), data.data(), bytes) == 0);
        drop(event);
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
    bench.cl.clWaitForEvents = [](cl_uint, const cl_event*) {
      if (held_up_ns > 0) return CL_SUCCESS;
      const uint64_t start = monotonic_ns();
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      held_up_ns = monotonic_ns() - start;
      return CL_SUCCESS;
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
    if (refused > 0) sim.refuse_at = sim.calls + refused;
    CHECK(bench.move(range_transfer(Way::ToDevice, bench.mem, 0, data.size(), data.data()), true));
    CHECK(spent.size() == (refused > 0 ? 0 : 1));
  }
}

TEST_CASE("a transfer behind a command that failed moves nothing") {
  Bench bench(4 << 20);
  const std::vector<char> data(4 << 20, 'a');
  const cl_event before = make<cl_event>(-5);
  bench.cl.clEnqueueMarkerWithWaitList = [](cl_command_queue, cl_uint n, const cl_event* list, cl_event* event) {
    give_event(event, n > 0 ? object(list[0])->status.load() : CL_COMPLETE);
    return CL_SUCCESS;
  };
  bench.cl.clEnqueueWriteBuffer = [](cl_command_queue, cl_mem m, cl_bool, size_t offset, size_t n, const void* p,
                                     cl_uint waits, const cl_event* list, cl_event* event) {
    const cl_int status = waits > 0 ? object(list[0])->status.load() : CL_COMPLETE;
    if (status == CL_COMPLETE) std::memcpy(object(m)->bytes.data() + offset, p, n);
    give_event(event, status);
    return CL_SUCCESS;
  };
  Request r;
  r.queue.queue = bench.queue;
  r.transfer = range_transfer(Way::ToDevice, bench.mem, 0, data.size(), data.data());
  r.waits = 1;
  r.wait_list = &before;
  cl_int error = 0;
  for (const bool shared : {true, false}) {
    r.queue.shared = shared;
    CHECK_FALSE(bench.stager->transfer(r, &error));  // the program's own call says why
    CHECK(bench.device() == std::vector<char>(4 << 20));
  }
  drop(before);
}

TEST_CASE("bytes are copied when what is waited for is over: it may be what brings them") {
  Bench bench(4 << 20);
  std::vector<char> data(1000, 'a');
  const cl_event before = make<cl_event>(CL_COMPLETE);
  Request r;
  r.queue.queue = bench.queue;
  r.transfer = range_transfer(Way::ToDevice, bench.mem, 0, data.size(), data.data());
  r.waits = 1;
  r.wait_list = &before;
  r.blocking = false;
  cl_int error = 0;
  CHECK_FALSE(bench.stager->transfer(r, &error));  // nobody could wait
  static std::vector<char>* coming = nullptr;
  coming = &data;
  bench.cl.clWaitForEvents = [](cl_uint, const cl_event*) {
    std::fill(coming->begin(), coming->end(), 'b');
    return CL_SUCCESS;
  };
  r.blocking = true;
  CHECK(bench.stager->transfer(r, &error));
  CHECK(bench.device()[0] == 'b');
  drop(before);
}

TEST_CASE("nothing is taken that cannot be put into its queue's order") {
  Bench bench(4 << 20);
  const std::vector<char> data(4 << 20);
  Request r;
  r.queue.queue = bench.queue;
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
  bench.stager->close();
  bench.stager = std::make_unique<Stager>();
  bench.stager->open(bench.cl, nullptr, nullptr, bench.copy_threads, agents, nullptr);
  cl_event event{};
  CHECK(bench.move(range_transfer(Way::ToDevice, bench.mem, 0, data.size(), data.data()), false, &event));
  for (int i = 0; i < 5000 && object(event)->status != CL_COMPLETE; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  agents[0].wind_up(5000);
  CHECK(object(event)->status == CL_COMPLETE);
  CHECK(bench.device() == data);
  drop(event);
  CHECK_FALSE(agents[0].reserve());  // it takes no more
}

std::atomic<bool> hold_waits{false}, in_a_wait{false};

TEST_CASE("settling waits for the copies that run, and for no transfer that cannot begin") {
  static Agent agents[2];
  std::mt19937 random(9);
  Bench bench(6 << 20);
  std::vector<char> back(6 << 20);
  bench.device() = random_bytes(random, 6 << 20);
  bench.cl.clWaitForEvents = [](cl_uint, const cl_event*) {
    in_a_wait = true;
    while (hold_waits) std::this_thread::yield();
    return CL_SUCCESS;
  };
  bench.stager->close();
  bench.stager = std::make_unique<Stager>();
  bench.stager->open(bench.cl, nullptr, nullptr, bench.copy_threads, agents, nullptr);
  agents[1].settle(60'000);  // nothing is there
  cl_int error = 0;
  cl_event user = bench.cl.clCreateUserEvent(nullptr, &error), event{};
  Request r;
  r.queue.queue = bench.queue;
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
  CHECK(object(event)->status == CL_COMPLETE);
  drop(event);
  drop(user);
  agents[1].wind_up(5000);
}

std::atomic<int> looks{0};

TEST_CASE("while the process forks no agent is inside the driver, whose locks the child would find taken") {
  static Agent agents[2];
  Bench bench(1 << 20);
  std::vector<char> back(1 << 20);
  const auto info = bench.cl.clGetEventInfo;
  static decltype(+info) asked = info;
  bench.cl.clGetEventInfo = [](cl_event e, cl_event_info name, size_t room, void* value, size_t* size) {
    ++looks;
    return asked(e, name, room, value, size);
  };
  bench.stager->close();
  bench.stager = std::make_unique<Stager>();
  bench.stager->open(bench.cl, nullptr, nullptr, bench.copy_threads, agents, nullptr);
  cl_int error = 0;
  cl_event user = bench.cl.clCreateUserEvent(nullptr, &error), event{};
  Request r;
  r.queue.queue = bench.queue;
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
  CHECK(object(event)->status == CL_COMPLETE);
  drop(event);
  drop(user);
}

}  // namespace
}  // namespace gt::staging
