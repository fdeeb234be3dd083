// The program's references to kernels and queues.
#include "transport/usm/emulated_usm.h"

namespace gt::usm {
namespace {

template <class Map>
void retain(Map& map, typename Map::key_type handle) {
  if (const auto found = map.find(handle); found != map.end()) ++found->second.references;
}
template <class Map>
void release(Map& map, typename Map::key_type handle) {
  const auto found = map.find(handle);
  if (found != map.end() && --found->second.references == 0) map.erase(found);
}

}  // namespace

void EmulatedUsm::kernel_made(cl_kernel kernel) {
  const MutexLock lock(mutex_);
  kernels_[kernel] = Kernel();
}

void EmulatedUsm::kernel_cloned(cl_kernel from, cl_kernel to) {
  const MutexLock lock(mutex_);
  const auto found = kernels_.find(from);
  Kernel copy = found == kernels_.end() ? Kernel() : found->second;
  copy.references = 1;
  copy.told = 0;
  kernels_[to] = std::move(copy);
}

void EmulatedUsm::kernel_retained(cl_kernel kernel) {
  const MutexLock lock(mutex_);
  retain(kernels_, kernel);
}

void EmulatedUsm::kernel_releasing(cl_kernel kernel) {
  const MutexLock lock(mutex_);
  release(kernels_, kernel);
}

void EmulatedUsm::queue_made(cl_command_queue queue) {
  const MutexLock lock(mutex_);
  queues_[queue] = Queue();
}

void EmulatedUsm::queue_retained(cl_command_queue queue) {
  const MutexLock lock(mutex_);
  retain(queues_, queue);
}

void EmulatedUsm::queue_releasing(cl_command_queue queue) {
  const MutexLock lock(mutex_);
  release(queues_, queue);
}

// REQUIRES: the queue was made before our eyes. What is no queue is the driver's to refuse.
void EmulatedUsm::note_queue(cl_command_queue queue) {
  const auto found = queues_.find(queue);
  if (found == queues_.end() || found->second.is_used) return;
  cl_.clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(cl_context), &found->second.context, nullptr);
  found->second.is_used = true;
}

}  // namespace gt::usm
