// Where commands that have not ended will put bytes in the program's memory. A write that comes after such a command
// and takes its bytes from there must not take them when it is enqueued: they are not there yet. A read that comes
// after one and brings bytes to the same memory must not put them there before.
// Invariant: every event here is alive; it removes itself when it ends.
// Thread safety: any thread. Cost: one load when nothing is on its way.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "traces/base/mutex.h"

struct _cl_event;
struct _cl_context;
struct _cl_device_id;

namespace gt::virt {

// A command that brings bytes, told from others by its event's address, and the device that it runs on, if any. None of
// these is looked into.
struct HostWriter {
  const _cl_event* event = nullptr;
  const _cl_context* context = nullptr;
  const _cl_device_id* device = nullptr;
};

class PendingHostWrites {
 public:
  // How bytes find their places.
  enum class By : uint8_t {
    Us,     // when the command ends here
    Link,   // one read of a device after the other, in the order in which the device was done with them
    Device  // they are there when the device is done
  };

  // Before the command is sent: _cl_event::writes_host().
  void add(const HostWriter& command, const void* begin, size_t bytes);
  // Likewise, of one that was added; by us, if nobody says so.
  void comes_by(const _cl_event& event, By by);
  void remove(const _cl_event& event);
  bool overlap(const void* begin, size_t bytes);
  // Whether bytes that come by `by` for a command could be there before those of one that it comes after.
  bool could_overtake(const HostWriter& command, By by, const void* begin, size_t bytes);

 private:
  struct Range {
    HostWriter command;
    uintptr_t begin, end;
    By by = By::Us;
  };
  template <class Matters>
  bool any_overlaps(const void* begin, size_t bytes, Matters matters);

  std::atomic<size_t> count_{0};
  Mutex mutex_;
  std::vector<Range> ranges_ GT_GUARDED_BY(mutex_);
};

// Of all contexts: the program's memory is one.
PendingHostWrites& pending_host_writes();

}  // namespace gt::virt
