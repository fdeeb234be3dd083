#include "transport/staging/pipeline.h"

#include <algorithm>
#include <bit>

#include "traces/base/clock.h"

namespace gt::staging {

size_t chunk_bytes_for(size_t transfer_bytes) noexcept {
  return std::clamp(std::bit_floor(std::max<size_t>(transfer_bytes / 8, 1)), SmallestChunk, LargestChunk);
}

bool Pipeline::open(const ClFunctions& cl, CopyThreads& copy_threads, cl_context context,
                    cl_device_id device) noexcept {
  cl_ = &cl;
  context_ = context;
  device_ = device;
  cl_int err = CL_SUCCESS;
  queue_ = cl.clCreateCommandQueue(context, device, 0, &err);
  if (err != CL_SUCCESS || !queue_) return false;
  if (memory_.open(cl, copy_threads, context, Bytes)) return true;
  cl.clReleaseCommandQueue(queue_);
  return false;
}

void Pipeline::close() noexcept {
  if (!is_open()) return;
  cl_->clReleaseCommandQueue(queue_);
  if (timed_queue_) cl_->clReleaseCommandQueue(timed_queue_);
  timed_queue_ = nullptr;
  memory_.close(*cl_);
}

cl_command_queue Pipeline::queue_for(bool timed) noexcept {
  if (!timed) return queue_;
  cl_int err = CL_SUCCESS;
  if (!timed_queue_) timed_queue_ = cl_->clCreateCommandQueue(context_, device_, CL_QUEUE_PROFILING_ENABLE, &err);
  return err == CL_SUCCESS && timed_queue_ ? timed_queue_ : queue_;
}

// The chunks of one run: part i lies in chunk i % chunks.
struct Pipeline::Flight {
  CopyThreads& copy_threads;
  const Run& what;
  const Parts& parts;
  cl_command_queue queue;
  char* base;
  size_t chunk_bytes, chunks;
  cl_event events[MostChunks] = {};
  Outcome outcome{};
  uint64_t moving_ns = 0;
  bool all_staged = true;

  template <class Step>
  auto timed(Step step) {
    const uint64_t start = monotonic_ns();
    const auto result = step();
    moving_ns += monotonic_ns() - start;
    return result;
  }
  void copy(size_t part) {
    timed([&] { return copy_threads.copy(parts.copy(part, chunk(part))), true; });
  }
  bool to_device() const { return what.transfer.way == Way::ToDevice; }
  bool is_last(size_t part) const { return part + 1 == parts.count(); }
  char* chunk(size_t part) const { return base + part % chunks * chunk_bytes; }
  cl_event& event(size_t part) { return events[part % chunks]; }
  void fail(cl_int error) {
    if (outcome.error == CL_SUCCESS) outcome.error = error;
  }
};

void Pipeline::move_directly(Flight& f, size_t part) noexcept {
  f.all_staged = false;
  const cl_int waited = f.what.waits > 0 ? cl_->clWaitForEvents(f.what.waits, f.what.wait_list) : CL_SUCCESS;
  if (waited != CL_SUCCESS) return f.fail(waited);
  f.fail(f.parts.enqueue_direct(*cl_, f.queue, part));
}

// Waits for a part's command and lets its event go. False: the command failed.
bool Pipeline::wait(Flight& f, size_t part) noexcept {
  cl_event& event = f.event(part);
  const auto arrives = [&] { return cl_->clWaitForEvents(1, &event) == CL_SUCCESS; };
  const bool good = part == 0 ? arrives() : f.timed(arrives);
  if (good && f.what.timed && part == 0)
    cl_->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(cl_ulong), &f.outcome.start_ns, nullptr);
  if (good && f.what.last && f.is_last(part))
    *f.what.last = event;
  else
    cl_->clReleaseEvent(event);
  event = nullptr;
  return good;
}

void Pipeline::start(Flight& f, size_t part) noexcept {
  if (f.to_device()) f.copy(part);
  // Later parts start when the first is finished, and with it the wait list.
  const bool waits = part < f.chunks;
  const cl_int err = f.parts.enqueue(*cl_, f.queue, part, f.chunk(part), waits ? f.what.waits : 0,
                                     waits ? f.what.wait_list : nullptr, &f.event(part));
  if (err == CL_SUCCESS) {
    cl_->clFlush(f.queue);
    return;
  }
  f.event(part) = nullptr;
  if (part == 0 && f.what.queue)
    f.outcome.refused = true;
  else
    move_directly(f, part);
}

void Pipeline::finish(Flight& f, size_t part) noexcept {
  if (!f.event(part)) return;  // was moved directly
  if (!wait(f, part)) return move_directly(f, part);
  if (!f.to_device()) f.copy(part);
}

Pipeline::Outcome Pipeline::run(CopyThreads& copy_threads, const Run& what) noexcept {
  const size_t chunk_bytes = chunk_bytes_for(what.transfer.bytes());
  const Parts parts(what.transfer, chunk_bytes);
  Flight f{copy_threads,
           what,
           parts,
           what.queue ? what.queue : queue_for(what.timed),
           memory_.data(),
           chunk_bytes,
           std::min(MostChunks, memory_.bytes() / chunk_bytes)};
  const size_t count = f.outcome.parts = parts.count();
  size_t started = 0;
  for (; started < count && f.outcome.error == CL_SUCCESS && !f.outcome.refused; ++started) {
    if (started >= f.chunks) finish(f, started - f.chunks);
    start(f, started);
  }
  for (size_t part = started > f.chunks ? started - f.chunks : 0; part < started; ++part) finish(f, part);
  if (f.all_staged && f.outcome.error == CL_SUCCESS && !f.outcome.refused) f.outcome.moving_ns = f.moving_ns;
  return f.outcome;
}

}  // namespace gt::staging
