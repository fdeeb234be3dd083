// The chunk pipeline: host copies and the device's DMA overlap, so that a transfer of pageable memory runs at the speed
// of the slower of the two instead of their sum (the driver's own path does both with one thread).
//
//   to the device   copy 0 | copy 1 | copy 2 | ...          chunk i is written by the copy threads while the device
//                          | dma 0  | dma 1  | dma 2        fetches chunk i - 1 out of pinned memory
//
// A pipeline has a queue of its own on the same device: its commands wait for one event of the program's queue, and the
// program's queue waits for them (queue_placeholder.h). A chunk that the driver refuses is moved directly from the
// host's memory, as the program would have done.
//
// Thread safety: none; one user at a time. noexcept, no allocation: injected code uses it.
#pragma once

#include "transport/staging/host_transfer.h"
#include "transport/staging/pinned_memory.h"

namespace gt::staging {

// One eighth of the transfer, so that filling the pipeline costs an eighth of the time; the bounds are measured
// (docs/measurements/staging.md).
constexpr size_t SmallestChunk = size_t{256} << 10;
constexpr size_t LargestChunk = size_t{4} << 20;
size_t chunk_bytes_for(size_t transfer_bytes) noexcept;

class Pipeline {
 public:
  static constexpr size_t MostChunks = 8;  // in flight
  static constexpr size_t Bytes = MostChunks * LargestChunk;  // of pinned memory; with half of it, reads stall

  constexpr Pipeline() = default;

  bool open(const ClFunctions& cl, CopyThreads& copy_threads, cl_context context, cl_device_id device) noexcept;
  void close() noexcept;
  bool is_open() const noexcept { return memory_.is_open(); }
  unsigned queues() const noexcept { return is_open() ? (timed_queue_ ? 2 : 1) : 0; }

  struct Run {
    const HostTransfer& transfer;
    cl_command_queue queue = nullptr;  // the program's; nullptr: the pipeline's own
    cl_uint waits = 0;                 // every command waits for these
    const cl_event* wait_list = nullptr;
    bool timed = false;   // the device times are wanted
    cl_event* last = nullptr;  // gets the last command's event
  };
  struct Outcome {
    bool refused = false;  // nothing was done: the driver did not even take the first command
    cl_int error = CL_SUCCESS;
    cl_ulong start_ns = 0;  // device time of the first chunk's command
    // Copying, and waiting for all parts but the first: what the transfer took, without its waiting for a queue, for
    // events or for a command to be taken, all of which end with the first part. That part's own way is missing: an
    // eighth of the transfer at most from 2 MiB on. 0: not known, not all of it was staged.
    uint64_t moving_ns = 0;
    size_t parts = 0;
  };
  // Returns when everything has arrived. If a wait list's event fails, so does this, and nothing is moved. A command
  // that the driver refuses later on is replaced by a direct one. REQUIRES: is_open(), Parts(transfer,
  // chunk_bytes_for(transfer.bytes())).fits().
  Outcome run(CopyThreads& copy_threads, const Run& what) noexcept;

 private:
  struct Flight;
  void start(Flight& flight, size_t part) noexcept;
  void finish(Flight& flight, size_t part) noexcept;
  bool wait(Flight& flight, size_t part) noexcept;
  void move_directly(Flight& flight, size_t part) noexcept;

  const ClFunctions* cl_ = nullptr;
  cl_command_queue queue_for(bool timed) noexcept;

  cl_context context_ = nullptr;
  cl_device_id device_ = nullptr;
  // Time stamps cost every command some microseconds: they have a queue of their own, made when first wanted.
  cl_command_queue queue_ = nullptr, timed_queue_ = nullptr;
  PinnedMemory memory_;
};

}  // namespace gt::staging
