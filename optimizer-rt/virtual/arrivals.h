// Where commands that have not ended will put bytes in the program's memory. A write that comes after such a command
// and takes its bytes from there must not take them when it is enqueued: they are not there yet. A read that comes
// after one and brings bytes to the same memory must not put them there before.
// Invariant: every event here is alive; it removes itself when it ends.
// Thread safety: any thread. Cost: one load when nothing is on its way.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

struct _cl_event;

namespace gt::virt {

class Arrivals {
 public:
  // Before the command is sent.
  void add(_cl_event& event, const void* begin, size_t bytes);
  void remove(const _cl_event& event);
  // `but`: does not count.
  bool meet(const void* begin, size_t bytes, const _cl_event* but = nullptr);

 private:
  struct Range {
    const _cl_event* event;
    uintptr_t begin, end;
  };
  std::atomic<size_t> count_{0};
  std::mutex mutex_;
  std::vector<Range> ranges_;
};

// Of all contexts: the program's memory is one.
Arrivals& arrivals();

}  // namespace gt::virt
