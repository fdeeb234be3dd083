// Memory that the driver is told of (CL_MEM_USE_HOST_PTR), so that transfers from and to it run at full speed.
// Nothing is lost but speed when the driver refuses.
#pragma once

#include <map>
#include <memory>
#include <utility>

#include "traces/base/mutex.h"
#include "transport/executor/base/session.h"

namespace gt::exec {

class Pin {
 public:
  Pin(const Cl& cl, cl_context context, void* base, size_t bytes) : cl_(cl) {
    cl_int err = CL_SUCCESS;
    mem_ = cl.clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, base, &err);
  }
  ~Pin() { mem_ ? cl_.clReleaseMemObject(mem_) : CL_SUCCESS; }
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;

 private:
  const Cl& cl_;
  cl_mem mem_ = nullptr;
};

// The client's segments that lie in memory shared with it: each is pinned as a whole when it is first used in a
// context, and let go before the client takes it back, or the context goes.
// Thread safety: all functions; the driver is called without the lock.
class SharedPins {
 public:
  explicit SharedPins(Session& session) : session_(session) {}

  void pin(wire::SegmentId segment, cl_context context);
  void forget(wire::SegmentId segment);
  void forget(cl_context context);

 private:
  static constexpr size_t Most = 4096;  // the rest is slower
  using Key = std::pair<wire::SegmentId, cl_context>;
  template <class Which>
  void forget_if(Which which);

  Session& session_;
  Mutex mutex_;
  std::map<Key, std::unique_ptr<Pin>> pins_ GT_GUARDED_BY(mutex_);  // nullptr: being made
};

}  // namespace gt::exec
