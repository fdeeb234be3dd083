// Moves between two devices made of plain memory, which run a command only when somebody waits for it: a slot that is
// used again too early shows. What arrives, whatever call is refused; what is let go of.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <vector>

#include "optimizer-rt/virtual/native_moves.h"

namespace gt::virt {
namespace {

struct Event;
struct Queue {
  std::deque<std::pair<Event*, std::function<void()>>> commands;
};
struct Event {
  Queue* queue;
  bool over = false;
};

struct Sim {
  int calls = 0, refuse_at = -1;  // the number of the call that fails
  int objects = 0, pins = 0;      // alive
  size_t largest = 0, reads_waiting = 0, most_reads_waiting = 0;
  struct {
    size_t width, height, element;
  } image = {};
  bool refuse() { return calls++ == refuse_at; }
};
Sim sim;

void run_until(Event* event) {
  while (!event->over) {
    auto [e, command] = std::move(event->queue->commands.front());
    event->queue->commands.pop_front();
    command();
    if (e) e->over = true;
  }
}

std::vector<std::pair<char*, size_t>> rows_of(cl_mem image, const size_t* origin, const size_t* region) {
  std::vector<std::pair<char*, size_t>> rows;
  const auto& i = sim.image;
  for (size_t z = origin[2]; z < origin[2] + region[2]; ++z)
    for (size_t y = origin[1]; y < origin[1] + region[1]; ++y) {
      const size_t at = ((z * i.height + y) * i.width + origin[0]) * i.element;
      rows.emplace_back(reinterpret_cast<char*>(image) + at, region[0] * i.element);
    }
  return rows;
}

cl_int enqueue(cl_command_queue queue, bool blocking, cl_event* out, std::function<void()> command) {
  if (sim.refuse()) return CL_OUT_OF_RESOURCES;
  auto* const q = reinterpret_cast<Queue*>(queue);
  auto* const e = new Event{q};
  q->commands.emplace_back(e, std::move(command));
  if (blocking) run_until(e);
  if (out) {
    ++sim.objects;
    *out = reinterpret_cast<cl_event>(e);
  } else {
    run_until(e);
    delete e;
  }
  return CL_SUCCESS;
}

staging::ClFunctions functions() {
  staging::ClFunctions f;
  f.clCreateCommandQueue = [](cl_context, cl_device_id, cl_command_queue_properties, cl_int* code) {
    *code = sim.refuse() ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
    if (*code != CL_SUCCESS) return cl_command_queue{};
    ++sim.objects;
    return reinterpret_cast<cl_command_queue>(new Queue);
  };
  f.clReleaseCommandQueue = [](cl_command_queue q) {
    --sim.objects;
    CHECK(reinterpret_cast<Queue*>(q)->commands.empty());
    delete reinterpret_cast<Queue*>(q);
    return CL_SUCCESS;
  };
  f.clCreateBuffer = [](cl_context, cl_mem_flags flags, size_t, void* host, cl_int* code) {
    CHECK(flags == (CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR));
    *code = sim.refuse() ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
    if (*code != CL_SUCCESS) return cl_mem{};
    ++sim.pins;
    return static_cast<cl_mem>(host);
  };
  f.clReleaseMemObject = [](cl_mem) {
    --sim.pins;
    return CL_SUCCESS;
  };
  f.clEnqueueReadBuffer = [](cl_command_queue q, cl_mem mem, cl_bool blocking, size_t offset, size_t size, void* to,
                             cl_uint, const cl_event*, cl_event* out) {
    sim.largest = std::max(sim.largest, size);
    sim.most_reads_waiting = std::max(sim.most_reads_waiting, ++sim.reads_waiting);
    const char* const from = reinterpret_cast<const char*>(mem) + offset;
    return enqueue(q, blocking, out, [=] {
      --sim.reads_waiting;
      std::memcpy(to, from, size);
    });
  };
  f.clEnqueueWriteBuffer = [](cl_command_queue q, cl_mem mem, cl_bool blocking, size_t offset, size_t size,
                              const void* from, cl_uint, const cl_event*, cl_event* out) {
    char* const to = reinterpret_cast<char*>(mem) + offset;
    return enqueue(q, blocking, out, [=] { std::memcpy(to, from, size); });
  };
  // Images lie packed in memory, as sim.image says.
  f.clEnqueueReadImage = [](cl_command_queue q, cl_mem mem, cl_bool blocking, const size_t* origin,
                            const size_t* region, size_t, size_t, void* to, cl_uint, const cl_event*, cl_event* out) {
    return enqueue(q, blocking, out, [rows = rows_of(mem, origin, region), to] {
      char* at = static_cast<char*>(to);
      for (const auto& [row, bytes] : rows) at = std::copy_n(row, bytes, at);
    });
  };
  f.clEnqueueWriteImage = [](cl_command_queue q, cl_mem mem, cl_bool blocking, const size_t* origin,
                             const size_t* region, size_t, size_t, const void* from, cl_uint, const cl_event*,
                             cl_event* out) {
    return enqueue(q, blocking, out, [rows = rows_of(mem, origin, region), from] {
      const char* at = static_cast<const char*>(from);
      for (const auto& [row, bytes] : rows) std::copy_n(at, bytes, row), at += bytes;
    });
  };
  f.clFlush = [](cl_command_queue) { return CL_SUCCESS; };
  f.clWaitForEvents = [](cl_uint, const cl_event* events) {
    run_until(reinterpret_cast<Event*>(events[0]));
    return sim.refuse() ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
  };
  f.clReleaseEvent = [](cl_event e) {
    --sim.objects;
    delete reinterpret_cast<Event*>(e);
    return CL_SUCCESS;
  };
  return f;
}

std::vector<char> pattern(size_t bytes) {
  std::vector<char> p(bytes);
  uint32_t seed = static_cast<uint32_t>(bytes) + 1;
  for (char& c : p) c = static_cast<char>((seed = seed * 1664525u + 1013904223u) >> 24);
  return p;
}

struct Two {
  staging::ClFunctions cl = functions();
  NativeMoves moves{{cl, nullptr, nullptr}, {cl, nullptr, nullptr}};
  cl_int move(std::vector<char>& from, std::vector<char>& to) {
    wire::Part all;
    all.region = {from.size(), 1, 1};
    return move(from, to, all, 1);
  }
  cl_int move(std::vector<char>& from, std::vector<char>& to, const wire::Part& part, size_t element) {
    return moves.move(reinterpret_cast<cl_mem>(from.data()), reinterpret_cast<cl_mem>(to.data()), part, element);
  }
};

constexpr size_t KiB = 1024, MiB = 1024 * KiB;

TEST_CASE("what arrives is what was there, byte by byte") {
  sim = {};
  {
    Two two;
    for (size_t bytes : {size_t{1}, MiB, MiB + 1, 4 * MiB, 4 * MiB + 1, 9 * MiB + 7, 33 * MiB, 70 * MiB + 3}) {
      CAPTURE(bytes);
      std::vector<char> from = pattern(bytes), to(bytes);
      CHECK(two.move(from, to) == CL_SUCCESS);
      CHECK(to == from);
    }
    CHECK(sim.pins == 4);  // two rings, each in both contexts
  }
  CHECK(sim.objects == 0);
  CHECK(sim.pins == 0);
}

TEST_CASE("large moves are cut into chunks, small ones are not; reads go ahead") {
  const auto shape = [](size_t bytes) {
    sim = {};
    Two two;
    std::vector<char> from(bytes), to(bytes);
    CHECK(two.move(from, to) == CL_SUCCESS);
    return std::pair(sim.largest, sim.most_reads_waiting);
  };
  CHECK(shape(100).first == 100);
  CHECK(shape(MiB) == std::pair(MiB, size_t{1}));
  CHECK(shape(4 * MiB) == std::pair(MiB, size_t{4}));
  CHECK(shape(12 * MiB) == std::pair(3 * MiB, size_t{4}));
  CHECK(shape(64 * MiB) == std::pair(4 * MiB, size_t{4}));
}

TEST_CASE("images: rows, slices, rows that are longer than a chunk") {
  constexpr size_t Shapes[][4] = {  // width, height, slices, bytes of an element
      {1, 1, 1, 4}, {7, 5, 3, 16}, {300, 400, 1, 4}, {1000, 700, 5, 4}, {3 * MiB, 2, 1, 1}, {257, 255, 99, 2}};
  for (const auto& [width, height, depth, element] : Shapes) {
    CAPTURE(width);
    sim = {};
    sim.image = {width, height, element};
    {
      Two two;
      wire::Part whole;
      whole.shape = wire::Part::Shape::Image;
      whole.region = {width, height, depth};
      std::vector<char> from = pattern(width * height * depth * element), to(from.size());
      CHECK(two.move(from, to, whole, element) == CL_SUCCESS);
      CHECK(to == from);
    }
    CHECK(sim.objects == 0);
  }
}

TEST_CASE("whatever is refused: an error or the contents, and nothing is kept") {
  for (size_t bytes : {100 * KiB, 5 * MiB}) {
    int failed = 0;
    for (int call = 0;; ++call) {
      CAPTURE(call);
      sim = {};
      sim.refuse_at = call;
      std::vector<char> from = pattern(bytes), to(bytes);
      {
        Two two;
        const cl_int code = two.move(from, to);
        if (code == CL_SUCCESS) CHECK(to == from);
        if (code != CL_SUCCESS) {
          ++failed;
          CHECK(two.move(from, to) == CL_SUCCESS);  // the next one works
          CHECK(to == from);
        }
      }
      CHECK(sim.objects == 0);
      CHECK(sim.pins == 0);
      if (sim.calls <= call) break;
    }
    CHECK(failed > 2);
  }
}

}  // namespace
}  // namespace gt::virt
