// A random program of transfers, kernels, copies, events and wrong calls, checked against a model in plain memory.
//
//   random_transfers SEED STEPS [THREADS]
//
// What it prints depends on the seed alone: every answer that OpenCL gives (errors, event types and states, the order
// of times) goes into it. So two runs can be compared byte for byte, and each checks its own data.
#include <CL/cl.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/e2e/optimizer/first_device.h"
#include "tests/random_bytes.h"

namespace {

constexpr size_t BufferBytes = 5 << 20;
constexpr int Buffers = 3;
const char* const Source =
    "kernel void add(global uchar* p, uint first, uchar k) { p[first + get_global_id(0)] += k; }";

struct Shared : FirstDevice {
  cl_program program = nullptr;
  bool out_of_order = false;
};

struct Read {  // to be compared when its event is done
  std::unique_ptr<std::vector<char>> got;
  std::vector<char> want;
};

class Program {
 public:
  Program(const Shared& shared, unsigned seed) : x(shared), random(seed) {
    cl_int err = CL_SUCCESS;
    for (const cl_command_queue_properties p :
         {cl_command_queue_properties{0}, cl_command_queue_properties{CL_QUEUE_PROFILING_ENABLE},
          cl_command_queue_properties{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE}}) {
      if (p == CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE && !x.out_of_order) continue;
      queues.push_back(clCreateCommandQueue(x.context, x.device, p, &err));
      must(err, "clCreateCommandQueue");
    }
    kernel = clCreateKernel(x.program, "add", &err);
    must(err, "clCreateKernel");
    for (int i = 0; i < Buffers; ++i) {
      model[i].resize(BufferBytes);
      gt::testing::randomize(random, model[i]);
      mems[i] = clCreateBuffer(x.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, BufferBytes, model[i].data(), &err);
      must(err, "clCreateBuffer");
    }
  }

  std::string run(int steps) {
    for (int i = 0; i < steps; ++i) step();
    settle();
    for (int i = 0; i < Buffers; ++i) clReleaseMemObject(mems[i]);
    for (cl_command_queue q : queues) clReleaseCommandQueue(q);
    clReleaseKernel(kernel);
    return log;
  }
  int callbacks_missing() const { return expected - callbacks.load(); }

 private:
  size_t pick(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); }
  bool chance(int percent) { return pick(100) < static_cast<size_t>(percent); }
  size_t pick_size() {
    const size_t shift = pick(23);
    return std::min(BufferBytes, pick(size_t{1} << shift) + 1);
  }
  void say(const char* what, long long value) { log += std::string(what) + ' ' + std::to_string(value) + '\n'; }

  // Everything enqueued is over, and right.
  void settle() {
    if (user) must(clSetUserEventStatus(user, CL_COMPLETE), "clSetUserEventStatus"), clReleaseEvent(user);
    user = nullptr;
    for (cl_command_queue q : queues) must(clFinish(q), "clFinish");
    for (const Read& r : reads)
      if (*r.got != r.want) std::printf("WRONG DATA after %zu lines\n", log.size()), std::exit(1);
    reads.clear();
    sources.clear();
    if (last) look_at(last), clReleaseEvent(last);
    last = nullptr;
  }

  // What the program can see of a completed event.
  void look_at(cl_event event) {
    cl_command_type type = 0;
    cl_int status = 1;
    cl_command_queue queue = nullptr;
    clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr);
    clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, nullptr);
    say("type", type);
    say("status", status);
    for (size_t i = 0; i < queues.size(); ++i)
      if (queue == queues[i]) say("queue", static_cast<long long>(i));
    cl_ulong times[4] = {};
    const cl_profiling_info what[] = {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
                                      CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END};
    cl_int err = CL_SUCCESS;
    for (int i = 0; i < 4; ++i) err = clGetEventProfilingInfo(event, what[i], sizeof times[i], &times[i], nullptr);
    say("times", err);
    say("ordered", err || (times[0] <= times[1] && times[1] <= times[2] && times[2] <= times[3]));
  }

  static void CL_CALLBACK called(cl_event, cl_int status, void* me) {
    if (status == CL_COMPLETE) ++static_cast<Program*>(me)->callbacks;
  }

  // Every command waits for the one before it, by its event or by its queue's order.
  struct Place {
    cl_command_queue queue;
    std::vector<cl_event> waits;
    cl_event* event = nullptr;
    cl_event made = nullptr;
    bool blocking = false;
    const cl_event* list() const { return waits.empty() ? nullptr : waits.data(); }
    cl_uint count() const { return static_cast<cl_uint>(waits.size()); }
  };
  Place next_place(bool may_block) {
    Place p;
    const size_t q = pick(queues.size());
    p.queue = queues[q];
    p.blocking = may_block && !user && chance(50);
    if (last) p.waits.push_back(last);
    if (user) p.waits.push_back(user);
    return p;
  }
  template <class Enqueue>
  void enqueue(bool may_block, Enqueue call) {
    Place p = next_place(may_block);
    must(call(p, &p.made), "an enqueue");
    if (p.blocking) look_at(p.made);
    if (chance(10)) must(clSetEventCallback(p.made, CL_COMPLETE, called, this), "clSetEventCallback"), ++expected;
    if (chance(10)) clRetainEvent(p.made), clReleaseEvent(p.made);
    if (last) clReleaseEvent(last);
    last = p.made;
    clFlush(p.queue);
  }

  char* source(size_t bytes) {
    if (chance(40))  // the same memory again, as it is
      for (std::vector<char>& old : sources)
        if (old.size() >= bytes) return old.data();
    sources.emplace_back(bytes);
    for (size_t i = 0; i < bytes; i += 1 + i / 64) sources.back()[i] = static_cast<char>(random());
    return sources.back().data();
  }

  void write() {
    const size_t b = pick(Buffers), bytes = pick_size(), at = pick(BufferBytes - bytes + 1);
    const char* from = source(bytes);
    enqueue(true, [&](Place& p, cl_event* e) {
      return clEnqueueWriteBuffer(p.queue, mems[b], p.blocking, at, bytes, from, p.count(), p.list(), e);
    });
    std::memcpy(model[b].data() + at, from, bytes);
  }
  void read() {
    const size_t b = pick(Buffers), bytes = pick_size(), at = pick(BufferBytes - bytes + 1);
    const auto first = model[b].begin() + static_cast<long>(at);
    Read r{std::make_unique<std::vector<char>>(bytes), {first, first + static_cast<long>(bytes)}};
    enqueue(true, [&](Place& p, cl_event* e) {
      return clEnqueueReadBuffer(p.queue, mems[b], p.blocking, at, bytes, r.got->data(), p.count(), p.list(), e);
    });
    reads.push_back(std::move(r));
  }
  void box(bool to_device) {
    const size_t b = pick(Buffers);
    const size_t region[3] = {pick(3000) + 1, pick(60) + 1, pick(6) + 1};
    const size_t row = region[0] + pick(3) * 16, slice = row * (region[1] + pick(2));
    const size_t host_row = region[0] + pick(3) * 24, host_slice = host_row * (region[1] + pick(2));
    const size_t origin[3] = {pick(10), pick(2), 0}, host_origin[3] = {pick(10), pick(2), pick(2)};
    const size_t host_bytes = (host_origin[2] + region[2]) * host_slice + 3 * host_row + 20;
    auto host = std::make_unique<std::vector<char>>(host_bytes, 'x');
    if (to_device) std::memcpy(host->data(), source(host_bytes), host_bytes);
    std::vector<char> want = *host;
    for (size_t z = 0; z < region[2]; ++z) {
      for (size_t y = 0; y < region[1]; ++y) {
        char* m = model[b].data() + origin[0] + (origin[1] + y) * row + (origin[2] + z) * slice;
        char* h = want.data() + host_origin[0] + (host_origin[1] + y) * host_row + (host_origin[2] + z) * host_slice;
        std::memcpy(to_device ? m : h, to_device ? h : m, region[0]);
      }
    }
    enqueue(true, [&](Place& p, cl_event* e) {
      return to_device ? clEnqueueWriteBufferRect(p.queue, mems[b], p.blocking, origin, host_origin, region, row, slice,
                                                  host_row, host_slice, host->data(), p.count(), p.list(), e)
                       : clEnqueueReadBufferRect(p.queue, mems[b], p.blocking, origin, host_origin, region, row, slice,
                                                 host_row, host_slice, host->data(), p.count(), p.list(), e);
    });
    reads.push_back({std::move(host), std::move(want)});
  }
  void add() {
    const size_t b = pick(Buffers), bytes = pick_size(), at = pick(BufferBytes - bytes + 1);
    const auto k = static_cast<cl_uchar>(random());
    const auto first = static_cast<cl_uint>(at);
    clSetKernelArg(kernel, 0, sizeof mems[b], &mems[b]);
    clSetKernelArg(kernel, 1, sizeof first, &first);
    clSetKernelArg(kernel, 2, sizeof k, &k);
    enqueue(false, [&](Place& p, cl_event* e) {
      return clEnqueueNDRangeKernel(p.queue, kernel, 1, nullptr, &bytes, nullptr, p.count(), p.list(), e);
    });
    for (size_t i = 0; i < bytes; ++i) model[b][at + i] = static_cast<char>(model[b][at + i] + k);
  }
  void copy() {
    const size_t from = pick(Buffers), to = (from + 1) % Buffers, bytes = pick_size();
    const size_t at = pick(BufferBytes - bytes + 1);
    enqueue(false, [&](Place& p, cl_event* e) {
      return clEnqueueCopyBuffer(p.queue, mems[from], mems[to], at, at, bytes, p.count(), p.list(), e);
    });
    std::memcpy(model[to].data() + at, model[from].data() + at, bytes);
  }
  // Held back until the next settling.
  void hold() {
    if (user) return;
    cl_int err = CL_SUCCESS;
    user = clCreateUserEvent(x.context, &err);
    must(err, "clCreateUserEvent");
  }
  void barrier() {
    enqueue(false, [&](Place& p, cl_event* e) {
      return chance(50) ? clEnqueueBarrierWithWaitList(p.queue, p.count(), p.list(), e)
                        : clEnqueueMarkerWithWaitList(p.queue, p.count(), p.list(), e);
    });
  }
  // Calls that fail: the same error, and nothing done.
  void wrong() {
    std::vector<char> some(BufferBytes);
    cl_command_queue q = queues[pick(queues.size())];
    const size_t origin[3] = {}, region[3] = {BufferBytes, 2, 1}, none[3] = {0, 1, 1};
    const cl_event nothing = nullptr;
    say("too far", clEnqueueWriteBuffer(q, mems[0], CL_TRUE, 100, BufferBytes, some.data(), 0, nullptr, nullptr));
    say("far out", clEnqueueReadBuffer(q, mems[0], CL_TRUE, ~size_t{0}, 1 << 20, some.data(), 0, nullptr, nullptr));
    say("no memory", clEnqueueReadBuffer(q, mems[0], CL_TRUE, 0, 1 << 20, nullptr, 0, nullptr, nullptr));
    say("no buffer", clEnqueueWriteBuffer(q, nullptr, CL_TRUE, 0, 1 << 20, some.data(), 0, nullptr, nullptr));
    say("no list", clEnqueueWriteBuffer(q, mems[0], CL_TRUE, 0, 1 << 20, some.data(), 1, nullptr, nullptr));
    say("no event", clEnqueueWriteBuffer(q, mems[0], CL_TRUE, 0, 1 << 20, some.data(), 1, &nothing, nullptr));
    say("large box", clEnqueueWriteBufferRect(q, mems[0], CL_TRUE, origin, origin, region, 0, 0, 0, 0, some.data(), 0,
                                              nullptr, nullptr));
    say("flat box", clEnqueueWriteBufferRect(q, mems[0], CL_TRUE, origin, origin, none, 0, 0, 0, 0, some.data(), 0,
                                             nullptr, nullptr));
  }

  void step() {
    switch (pick(24)) {
      case 0: case 1: case 2: case 3: case 4: return write();
      case 5: case 6: case 7: case 8: case 9: return read();
      case 10: case 11: return box(true);
      case 12: case 13: return box(false);
      case 14: case 15: case 16: return add();
      case 17: return copy();
      case 18: return hold();
      case 19: return barrier();
      case 20: return wrong();
      default: return settle();
    }
  }

  const Shared& x;
  std::mt19937 random;
  std::vector<cl_command_queue> queues;
  cl_kernel kernel = nullptr;
  cl_mem mems[Buffers] = {};
  std::vector<char> model[Buffers];
  std::deque<std::vector<char>> sources;
  std::vector<Read> reads;
  cl_event last = nullptr, user = nullptr;
  std::string log;
  int expected = 0;
  std::atomic<int> callbacks{0};
};

Shared open() {
  Shared s;
  s.open();
  cl_int err = CL_SUCCESS;
  s.program = clCreateProgramWithSource(s.context, 1, const_cast<const char**>(&Source), nullptr, &err);
  must(err, "clCreateProgramWithSource");
  must(clBuildProgram(s.program, 0, nullptr, "", nullptr, nullptr), "clBuildProgram");
  cl_command_queue_properties properties = 0;
  clGetDeviceInfo(s.device, CL_DEVICE_QUEUE_PROPERTIES, sizeof properties, &properties, nullptr);
  s.out_of_order = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
  return s;
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned seed = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 100;
  const unsigned count = argc > 3 ? static_cast<unsigned>(std::atoi(argv[3])) : 1;
  const Shared shared = open();
  std::vector<std::string> logs(count);
  std::vector<std::thread> threads;
  const auto work = [&](unsigned i) {
    Program program(shared, seed * 100 + i);
    logs[i] = program.run(steps);
    // A driver may call back a moment after clFinish.
    for (int n = 0; n < 2000 && program.callbacks_missing(); ++n)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    logs[i] += program.callbacks_missing() == 0 ? "called back\n" : "CALLBACKS LOST\n";
  };
  for (unsigned i = 1; i < count; ++i) threads.emplace_back(work, i);
  work(0);
  for (std::thread& t : threads) t.join();
  for (const std::string& log : logs) std::fputs(log.c_str(), stdout);
  clReleaseProgram(shared.program);
  clReleaseContext(shared.context);
}
