// What a launch may have written: the buffers, images and SVM memory bound to its kernel that it may write.
//
// And what nothing has written yet is zeros: memory that a driver gives has whatever was there, so two replays would
// differ by it. Thread safety: any thread; a lock each time.
#pragma once

#include <CL/cl.h>

#include <map>
#include <string>
#include <vector>

#include "tracer/gtrace/replay/device_memory.h"
#include "tracer/gtrace/replay/kernel_facts.h"
#include "tracer/gtrace/replay/launches.h"
#include "tracer/gtrace/replay/mapped_boxes.h"

namespace gt::tracer {

struct LaunchOutput {
  uint32_t argument = 0;
  std::string name;  // of the argument; empty: the driver does not say
  ElementType type = ElementType::Byte;
  Bytes bytes;
};

class LaunchOutputs {
 public:
  // The references must outlive it.
  LaunchOutputs(const OpenClLibrary& cl, const KernelFacts& kernels, const MappedBoxes& mapped)
      : cl_(cl), memory_(cl), kernels_(kernels), mapped_(mapped) {}

  // Waits for the launch's queue. Of the same memory in several arguments only the first is read.
  Status read(const Launch& launch, std::vector<LaunchOutput>& out);
  // An object was made, in this context: a buffer, an image or SVM memory becomes zeros, if it was not given contents.
  Status clear(const MadeObject& made);

 private:
  struct ArgumentFacts {
    bool written = true;
    std::string name;
    ElementType type = ElementType::Byte;
  };
  const ArgumentFacts& facts_of(const Launch& launch, uint32_t index) GT_REQUIRES(mutex_);
  Status read_svm(cl_command_queue queue, uint64_t address, Bytes& out) const;
  cl_command_queue queue_of(uint64_t context) GT_REQUIRES(mutex_);
  cl_int fill(cl_command_queue queue, const MadeObject& made) const;

  const OpenClLibrary& cl_;
  DeviceMemory memory_;
  const KernelFacts& kernels_;
  const MappedBoxes& mapped_;
  Mutex mutex_;
  std::map<std::pair<model::ClassId, uint32_t>, ArgumentFacts> facts_ GT_GUARDED_BY(mutex_);
  std::map<uint64_t, cl_command_queue> queues_ GT_GUARDED_BY(mutex_);  // ours, by context
};

}  // namespace gt::tracer
