// Objects of whose contents the recording does not have all, though its part needs them: what follows from them is not
// compared.
//
// They go from object to object: a command that has one leaves all of its objects so. A sub-buffer counts as what it is
// a part of. Thread safety: any thread; a lock each time.
#pragma once

#include <cstdint>
#include <set>
#include <span>

#include "traces/base/mutex.h"

namespace gt::tracer {

class UnknownContents {
 public:
  void add(uint64_t object) {
    const MutexLock lock(mutex_);
    unknown_.insert(object);
  }
  void forget(uint64_t object) {
    const MutexLock lock(mutex_);
    unknown_.erase(object);
  }
  // A command has these. Is one of them unknown? Then all of them are from now on.
  bool meet(std::span<const uint64_t> objects) {
    const MutexLock lock(mutex_);
    if (unknown_.empty()) return false;
    bool any = false;
    for (const uint64_t object : objects) any |= unknown_.contains(object);
    if (any) unknown_.insert(objects.begin(), objects.end());
    return any;
  }

 private:
  Mutex mutex_;
  std::set<uint64_t> unknown_ GT_GUARDED_BY(mutex_);
};

}  // namespace gt::tracer
