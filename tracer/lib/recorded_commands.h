// What the commands of command buffers use: what a run of one may read and write on the device.
//
// Kept only where data is read back from the device (capture_choice.h). A launch uses what was bound to its kernel when
// it was recorded. A command buffer with more than there is room for, in several queues, or with commands that were
// changed since, is not known as a whole.
// Thread safety: any thread, one at a time for one command buffer, as OpenCL wants it; no lock, no allocation.
#pragma once

#include "tracer/lib/bound_kernels.h"

struct _cl_command_buffer_khr;

namespace gt::tracer {

void note_command_buffer(_cl_command_buffer_khr* made, const cl_command_queue* queues, cl_uint count) noexcept;
void count_references(_cl_command_buffer_khr* buffer, int change) noexcept;
void record_object(_cl_command_buffer_khr* buffer, cl_mem object) noexcept;
void record_pointer(_cl_command_buffer_khr* buffer, const void* p) noexcept;  // of an allocation, or the program's
void record_kernel(_cl_command_buffer_khr* buffer, cl_kernel kernel) noexcept;
void forget_whole(_cl_command_buffer_khr* buffer) noexcept;  // its commands are changed

// The queue that it runs in when the program names none; nullptr: not known.
cl_command_queue queue_of(_cl_command_buffer_khr* buffer) noexcept;

namespace detail {
constexpr size_t MostRecorded = 512;
struct RecordedUses {
  const std::atomic<uintptr_t>* objects = nullptr;      // cl_mem
  const std::atomic<uintptr_t>* allocations = nullptr;  // their addresses
  size_t object_count = 0, allocation_count = 0;
  bool whole = false;
};
RecordedUses uses_of(_cl_command_buffer_khr* buffer) noexcept;
}  // namespace detail

// As each_bound(), of all that its commands use.
template <class Object, class Allocation>
bool each_recorded(_cl_command_buffer_khr* buffer, Object visit_object, Allocation visit_allocation) {
  const detail::RecordedUses uses = detail::uses_of(buffer);
  for (size_t i = 0; i < uses.object_count; ++i)
    if (LiveObject* object = live_object(reinterpret_cast<cl_mem>(uses.objects[i].load()))) visit_object(*object);
  for (size_t i = 0; i < uses.allocation_count; ++i)
    if (LiveAllocation* memory = live_allocation(reinterpret_cast<const void*>(uses.allocations[i].load())))
      visit_allocation(*memory);
  return uses.whole;
}

}  // namespace gt::tracer
