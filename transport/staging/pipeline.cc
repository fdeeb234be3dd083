#include "transport/staging/pipeline.h"

#include <algorithm>
#include <bit>

namespace gt::staging {

size_t chunk_bytes_for(size_t transfer_bytes) noexcept {
  return std::clamp(std::bit_floor(std::max<size_t>(transfer_bytes / 8, 1)), SmallestChunk, LargestChunk);
}

bool Pipeline::open(const ClFunctions& cl, cl_context context, cl_device_id device) noexcept {
  x_cl = &cl;
  x_context = context;
  x_device = device;
  cl_int err = CL_SUCCESS;
  x_queue = cl.clCreateCommandQueue(context, device, 0, &err);
  if (err != CL_SUCCESS || !x_queue) return false;
  if (x_memory.open(cl, context, Bytes)) return true;
  cl.clReleaseCommandQueue(x_queue);
  return false;
}

void Pipeline::close() noexcept {
  if (!is_open()) return;
  x_cl->clReleaseCommandQueue(x_queue);
  if (x_timed_queue) x_cl->clReleaseCommandQueue(x_timed_queue);
  x_timed_queue = nullptr;
  x_memory.close(*x_cl);
}

cl_command_queue Pipeline::queue_for(bool timed) noexcept {
  if (!timed) return x_queue;
  cl_int err = CL_SUCCESS;
  if (!x_timed_queue) x_timed_queue = x_cl->clCreateCommandQueue(x_context, x_device, CL_QUEUE_PROFILING_ENABLE, &err);
  return err == CL_SUCCESS && x_timed_queue ? x_timed_queue : x_queue;
}

// The chunks of one run: part i lies in chunk i % chunks.
struct Pipeline::Flight {
  CopyCrew& crew;
  const Parts& parts;
  cl_command_queue queue;
  bool timed;
  bool to_device;
  cl_event after;
  char* base;
  size_t chunk_bytes, chunks;
  cl_event events[MostChunks] = {};
  Outcome outcome{};

  char* chunk(size_t part) const { return base + part % chunks * chunk_bytes; }
  cl_event& event(size_t part) { return events[part % chunks]; }
  void fail(cl_int error) {
    if (outcome.error == CL_SUCCESS) outcome.error = error;
  }
};

void Pipeline::move_directly(Flight& f, size_t part) noexcept {
  if (f.after && x_cl->clWaitForEvents(1, &f.after) != CL_SUCCESS)
    return f.fail(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  f.fail(f.parts.enqueue_direct(*x_cl, f.queue, part));
}

// Waits for a part's command and lets its event go. False: the command failed.
bool Pipeline::wait(Flight& f, size_t part) noexcept {
  cl_event& event = f.event(part);
  const bool good = x_cl->clWaitForEvents(1, &event) == CL_SUCCESS;
  const auto time = [&](cl_profiling_info what, cl_ulong& to) {
    x_cl->clGetEventProfilingInfo(event, what, sizeof to, &to, nullptr);
  };
  if (good && f.timed && part == 0) time(CL_PROFILING_COMMAND_START, f.outcome.start_ns);
  if (good && f.timed && part + 1 == f.parts.count()) time(CL_PROFILING_COMMAND_END, f.outcome.end_ns);
  x_cl->clReleaseEvent(event);
  event = nullptr;
  return good;
}

void Pipeline::start(Flight& f, size_t part) noexcept {
  if (f.to_device) f.crew.copy(f.parts.copy(part, f.chunk(part)));
  // Later parts start when the first is finished, and with it `after`.
  const bool waits = f.after && part < f.chunks;
  const cl_int err = f.parts.enqueue(*x_cl, f.queue, part, f.chunk(part), waits ? 1 : 0, waits ? &f.after : nullptr,
                                     &f.event(part));
  if (err == CL_SUCCESS) {
    x_cl->clFlush(f.queue);
  } else {
    f.event(part) = nullptr;
    move_directly(f, part);
  }
}

void Pipeline::finish(Flight& f, size_t part) noexcept {
  if (!f.event(part)) return;  // was moved directly
  if (!wait(f, part)) return move_directly(f, part);
  if (!f.to_device) f.crew.copy(f.parts.copy(part, f.chunk(part)));
}

Pipeline::Outcome Pipeline::run(CopyCrew& crew, const Move& move, cl_event after, bool timed) noexcept {
  const size_t chunk_bytes = chunk_bytes_for(move.bytes());
  const Parts parts(move, chunk_bytes);
  Flight f{crew,  parts,           queue_for(timed), timed,       move.way == Way::ToDevice,
           after, x_memory.data(), chunk_bytes,      MostChunks};
  const size_t count = parts.count();
  size_t started = 0;
  for (; started < count && f.outcome.error == CL_SUCCESS; ++started) {
    if (started >= f.chunks) finish(f, started - f.chunks);
    start(f, started);
  }
  for (size_t part = started > f.chunks ? started - f.chunks : 0; part < started; ++part) finish(f, part);
  return f.outcome;
}

}  // namespace gt::staging
