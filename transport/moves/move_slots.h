// Where the chunks of a move are on their way from one device to another.
//
//   source ── fill ──► slot ── hop ──► slot ── drain ──► destination
//
// Thread safety: none; whoever moves has a lock.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>

#include "traces/base/mutex.h"
#include "transport/copy/region.h"
#include "transport/opencl/cl_functions.h"

namespace gt::moves {

struct MoveEnd {
  const ClFunctions& cl;
  cl_context context;
  cl_device_id device;
  Mutex* driver_lock = nullptr;  // to be held while commands on memory objects are enqueued; nullptr: no need

  std::unique_lock<Mutex> lock_driver() const {
    return driver_lock ? std::unique_lock(*driver_lock) : std::unique_lock<Mutex>();
  }
};

class MoveSlots {
 public:
  virtual ~MoveSlots() = default;
  virtual size_t bytes() const = 0;  // of all slots
  // A part of `from` goes to this offset in the slots, packed. Does not block.
  virtual cl_int fill(cl_command_queue queue, cl_mem from, const copy::Region& part, size_t offset,
                      cl_event* event) = 0;
  // From the source's slots to the destination's; blocks. Nothing where both see the same memory.
  virtual cl_int hop(size_t offset, size_t bytes) = 0;
  virtual cl_int drain(cl_command_queue queue, cl_mem to, const copy::Region& part, size_t offset, cl_event* event) = 0;
};

// Host memory, pinned for both contexts (CL_MEM_USE_HOST_PTR), since only pinned memory is copied at the bus's speed;
// pinned in one context is enough for others of the same driver, not for another driver's. A driver that refuses to pin
// only costs speed.
class PinnedSlots final : public MoveSlots {
 public:
  // nullptr: there is no memory.
  static std::unique_ptr<PinnedSlots> make(const MoveEnd& from, const MoveEnd& to, size_t bytes);
  ~PinnedSlots() override;

  char* base() const { return base_; }
  size_t bytes() const override { return bytes_; }
  cl_int fill(cl_command_queue queue, cl_mem from, const copy::Region& part, size_t offset, cl_event* event) override;
  cl_int hop(size_t, size_t) override { return CL_SUCCESS; }
  cl_int drain(cl_command_queue queue, cl_mem to, const copy::Region& part, size_t offset, cl_event* event) override;

 private:
  PinnedSlots(const MoveEnd& from, const MoveEnd& to, char* base, size_t bytes);

  const MoveEnd ends_[2];
  char* const base_;
  const size_t bytes_;
  cl_mem pins_[2] = {};
};

}  // namespace gt::moves
