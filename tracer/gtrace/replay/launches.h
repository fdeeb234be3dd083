// The launches of a replay, for who wants to look at the device before and after one, and at what is made.
// Thread safety: a hook is called by the thread that launches; by several at once where the program has several.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "traces/base/mutex.h"
#include "traces/base/status.h"
#include "traces/model/fold/event.h"

namespace gt::tracer {

struct LaunchedObject {
  uint32_t argument = 0;
  model::ClassId cls = model::NoIndex;
  int64_t slot = 0;
};

struct Launch {
  std::string kernel;   // its name
  uint64_t nth = 0;     // of all launches of that name, from 1
  uint64_t number = 0;  // of the call
  model::ThreadId thread = 0;
  model::ClassId cls = model::NoIndex;  // of the kernel
  uint64_t handle = 0, queue = 0;       // of the kernel, and where it is launched
  uint32_t dimensions = 1;
  std::vector<uint64_t> offset, global, local;  // empty: the program gave none
  std::vector<LaunchedObject> objects;          // bound to its kernel, as the recording names them
  std::function<Status()> again;                // the same call; without what it would have given back
};

// A call has made it.
struct MadeObject {
  model::ObjectKind kind = model::ObjectKind::Unknown;
  uint64_t handle = 0;   // SVM memory: its address
  uint64_t context = 0;  // that the call was given; 0: none
};

class LaunchHook {
 public:
  virtual ~LaunchHook() = default;
  // Does it look at this one? Then nothing is left waiting for user events before it.
  virtual bool wants(const Launch& /*launch*/) const { return true; }
  virtual Status made(const MadeObject&) { return {}; }
  virtual Status before(const Launch& launch) = 0;
  virtual Status after(const Launch& launch) = 0;
  virtual bool done() const { return false; }  // the replay may end
};

// How often kernels of each name were launched.
class LaunchCounts {
 public:
  uint64_t next(const std::string& kernel) {
    const MutexLock lock(mutex_);
    return ++counts_[kernel];
  }

 private:
  Mutex mutex_;
  std::map<std::string, uint64_t> counts_ GT_GUARDED_BY(mutex_);
};

// "NAME" or "NAME#N": the N-th launch of kernels of that name, the first by default.
struct LaunchChoice {
  std::string kernel;
  uint64_t nth = 1;
  bool is(const Launch& launch) const { return launch.nth == nth && launch.kernel == kernel; }

  // Invalid: no such words; or the trace has no such kernel (then the text names those that it has).
  static Result<LaunchChoice> parse(const std::string& text, const model::Trace& trace);
};

}  // namespace gt::tracer
