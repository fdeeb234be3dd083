// Spans of the program's memory that one executor of this node maps.
//
// A span is registered with the first transfer of its memory, as a whole, and stays so until the optimizer takes it
// back. Spans change when blocks come and go, so registered spans may overlap.
// Invariant: what transfers use stays registered.
// Thread safety: all functions. Cost: about 0.1 us once registered; a round trip of the link's socket before.
#pragma once

#include <list>
#include <optional>

#include "optimizer-rt/client/base/optimizer.h"
#include "traces/base/mutex.h"
#include "transport/link/base/link.h"

namespace gt::virt {

class RegisteredMemory {
 public:
  // The memory's address at the executor's, in use until let_go(segment); none: it is not shared.
  std::optional<wire::Address> use(wire::Link& link, const void* p, size_t bytes);
  void let_go(wire::SegmentId segment);
  bool cover(const void* p);  // is it in a registered span?
  // Deregisters what overlaps the range. False: something of it is in use, and nothing was deregistered.
  bool deregister(wire::Link& link, const void* base, size_t bytes);

 private:
  static constexpr size_t Most = 4096;
  struct Registered {
    wire::SegmentId segment = 0;
    const char* base = nullptr;
    size_t bytes = 0;
    size_t users = 0;

    bool holds(const char* p, size_t n) const {
      return p >= base && n <= bytes && static_cast<size_t>(p - base) <= bytes - n;
    }
    bool overlaps(const char* p, size_t n) const { return p < base + bytes && base < p + n; }
  };

  std::optional<wire::Address> use_registered(const char* p, size_t bytes);
  bool register_span(wire::Link& link, const SharedSpan& span) GT_REQUIRES(registering_);

  Mutex registering_;  // held while a span is being registered; before mutex_
  bool refused_ GT_GUARDED_BY(registering_) = false;
  Mutex mutex_;
  std::list<Registered> registered_ GT_GUARDED_BY(mutex_);  // used last: first
};

}  // namespace gt::virt
