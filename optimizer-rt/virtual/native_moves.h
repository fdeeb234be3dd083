// Contents from one device of this process to another: a ring of pinned chunks, the read of the next ones under way
// while one is being written. The drivers are called directly, in queues of our own.
//
// A ring is made with the first move that needs it and pinned for both contexts (CL_MEM_USE_HOST_PTR), since only
// pinned memory is copied at the bus's speed; pinned in one context is enough for others of the same driver, not for
// another driver's.
// Thread safety: move() from any thread, one at a time; the others wait.
#pragma once

#include <cstddef>
#include <mutex>

#include "transport/protocol/chunks.h"
#include "transport/staging/cl_functions.h"

namespace gt::virt {

class NativeMoves {
 public:
  struct End {
    const staging::ClFunctions& cl;
    cl_context context;
    cl_device_id device;
  };
  static constexpr size_t SmallMove = size_t{1} << 20;  // at once: a chunk more costs as much as overlapping it gains

  NativeMoves(End from, End to) : from_(from), to_(to) {}
  ~NativeMoves();
  NativeMoves(const NativeMoves&) = delete;
  NativeMoves& operator=(const NativeMoves&) = delete;

  // Copies a part, of elements of so many bytes (1: of a buffer), and returns when it is there. REQUIRES: nothing under
  // way writes `from` or uses `to`.
  cl_int move(cl_mem from, cl_mem to, const wire::Part& part, size_t element);

 private:
  static constexpr size_t Slots = 8;
  static constexpr size_t LargestChunk = size_t{4} << 20, FewestChunks = 4;
  static constexpr size_t ReadAhead = Slots / 2;  // the other half is being written
  struct Ring {
    size_t bytes;
    char* base = nullptr;
    cl_mem pins[2] = {};
  };
  bool open_queues();
  bool open(Ring& ring);
  void close(Ring& ring);
  cl_int copy_at_once(char* memory, cl_mem from, cl_mem to, size_t bytes);
  cl_int copy(char* memory, const wire::Chunks& chunks, cl_mem from, cl_mem to, size_t slot_bytes);

  const End from_, to_;
  std::mutex mutex_;  // of what follows
  cl_command_queue read_queue_ = nullptr, write_queue_ = nullptr;
  Ring small_{SmallMove}, large_{Slots * LargestChunk};
};

}  // namespace gt::virt
