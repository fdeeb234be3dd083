#include "optimizer-rt/virtual/native_moves.h"

#include <algorithm>
#include <cstring>

#include "transport/executor/move_part.h"
#include "transport/memory/pin.h"

namespace gt::virt {
namespace {

// The event of a slot's last command.
class Pending {
 public:
  explicit Pending(const staging::ClFunctions& cl) : cl_(cl) {}
  ~Pending() { wait(); }
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;

  cl_event* set() { return &event_; }  // REQUIRES: none is pending
  cl_int wait() {
    if (!event_) return CL_SUCCESS;
    const cl_int code = cl_.clWaitForEvents(1, &event_);
    cl_.clReleaseEvent(event_);
    event_ = nullptr;
    return code;
  }

 private:
  const staging::ClFunctions& cl_;
  cl_event event_ = nullptr;
};

cl_command_queue make_queue(const NativeMoves::End& end) {
  cl_int code = CL_SUCCESS;
  const cl_command_queue queue = end.cl.clCreateCommandQueue(end.context, end.device, 0, &code);
  return code == CL_SUCCESS ? queue : nullptr;
}

}  // namespace

NativeMoves::~NativeMoves() {
  if (read_queue_) from_.cl.clReleaseCommandQueue(read_queue_);
  if (write_queue_) to_.cl.clReleaseCommandQueue(write_queue_);
  close(small_);
  close(large_);
}

bool NativeMoves::open_queues() {
  if (!read_queue_) read_queue_ = make_queue(from_);
  if (!write_queue_) write_queue_ = make_queue(to_);
  return read_queue_ && write_queue_;
}

// A driver that refuses to pin only costs speed.
bool NativeMoves::open(Ring& ring) {
  if (ring.base) return true;
  void* const base = memory::map_huge(ring.bytes);
  if (!base) return false;
  std::memset(base, 0, ring.bytes);  // pinning finds the pages there, instead of making each
  const End* const ends[2] = {&from_, &to_};
  for (int i = 0; i < 2; ++i) {
    cl_int code = CL_SUCCESS;
    ring.pins[i] = ends[i]->cl.clCreateBuffer(ends[i]->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, ring.bytes,
                                              base, &code);
    if (code != CL_SUCCESS) ring.pins[i] = nullptr;
  }
  ring.base = static_cast<char*>(base);
  return true;
}

void NativeMoves::close(Ring& ring) {
  if (ring.pins[0]) from_.cl.clReleaseMemObject(ring.pins[0]);
  if (ring.pins[1]) to_.cl.clReleaseMemObject(ring.pins[1]);
  if (ring.base) memory::unmap_huge(ring.base, ring.bytes);
}

cl_int NativeMoves::move(cl_mem from, cl_mem to, const wire::Part& part, size_t element) {
  const size_t bytes = wire::Chunks(part, element, ~uint64_t{0}).bytes();
  const std::lock_guard lock(mutex_);
  Ring& ring = bytes <= SmallMove ? small_ : large_;
  if (!open_queues() || !open(ring)) return CL_OUT_OF_HOST_MEMORY;
  if (bytes <= SmallMove && part.shape == wire::Part::Shape::Range) return copy_at_once(ring.base, from, to, bytes);
  // Not too few: the first read and the last write have nothing beside them.
  constexpr size_t Page = 4096;
  const size_t wanted = (bytes / FewestChunks + Page - 1) / Page * Page;
  const size_t largest = std::clamp(wanted, SmallMove / Slots, ring.bytes / Slots);
  return copy(ring.base, wire::Chunks(part, element, largest), from, to, largest);
}

cl_int NativeMoves::copy_at_once(char* memory, cl_mem from, cl_mem to, size_t bytes) {
  const cl_int code =
      from_.cl.clEnqueueReadBuffer(read_queue_, from, CL_TRUE, 0, bytes, memory, 0, nullptr, nullptr);
  if (code != CL_SUCCESS) return code;
  return to_.cl.clEnqueueWriteBuffer(write_queue_, to, CL_TRUE, 0, bytes, memory, 0, nullptr, nullptr);
}

cl_int NativeMoves::copy(char* memory, const wire::Chunks& chunks, cl_mem from, cl_mem to, size_t slot_bytes) {
  if (!chunks.valid()) return CL_INVALID_VALUE;
  Pending reads[Slots] = {Pending(from_.cl), Pending(from_.cl), Pending(from_.cl), Pending(from_.cl),
                          Pending(from_.cl), Pending(from_.cl), Pending(from_.cl), Pending(from_.cl)};
  Pending writes[Slots] = {Pending(to_.cl), Pending(to_.cl), Pending(to_.cl), Pending(to_.cl),
                           Pending(to_.cl), Pending(to_.cl), Pending(to_.cl), Pending(to_.cl)};
  const size_t count = chunks.count();
  const auto slot = [&](size_t i) { return memory + i % Slots * slot_bytes; };
  size_t reading = 0;
  for (size_t i = 0; i < count; ++i) {
    for (; reading < std::min(count, i + ReadAhead); ++reading) {
      cl_int code = writes[reading % Slots].wait();
      if (code == CL_SUCCESS)
        code = exec::enqueue_part(from_.cl, exec::Way::ToHost, read_queue_, from, chunks.at(reading).part,
                                  slot(reading), {}, reads[reading % Slots].set());
      if (code != CL_SUCCESS) return code;
      from_.cl.clFlush(read_queue_);
    }
    cl_int code = reads[i % Slots].wait();
    if (code == CL_SUCCESS)
      code = exec::enqueue_part(to_.cl, exec::Way::ToDevice, write_queue_, to, chunks.at(i).part, slot(i), {},
                                writes[i % Slots].set());
    if (code != CL_SUCCESS) return code;
    to_.cl.clFlush(write_queue_);
  }
  cl_int worst = CL_SUCCESS;
  for (Pending& write : writes)
    if (const cl_int code = write.wait(); code != CL_SUCCESS) worst = code;
  return worst;
}

}  // namespace gt::virt
