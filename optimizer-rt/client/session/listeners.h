// What a session reports to: of each command and of each queue, a part of the object that it is about. Events and
// queues know their session; it knows of them no more than this.
//
// A listener is counted as the object is (base/object.h): a Ref to it keeps the object.
// Thread safety: any thread, also the link's handlers.
#pragma once

#include <CL/cl.h>

#include <concepts>
#include <cstdint>

#include "optimizer-rt/client/base/object.h"

namespace gt::virt {

class Listener {
 public:
  virtual bool try_hold() = 0;  // false: the object is about to end
  virtual void unhold() = 0;

 protected:
  ~Listener() = default;
};
template <std::derived_from<Listener> L>
bool try_hold(L* listener) {
  return listener->try_hold();
}
template <std::derived_from<Listener> L>
void unhold(L* listener) {
  listener->unhold();
}

class EventListener : public Listener {
 public:
  // The command has ended, or never will. Times are ours; 0: not known.
  virtual void complete(cl_int status, int64_t start_ns, int64_t end_ns) = 0;

 protected:
  ~EventListener() = default;
};

class QueueListener : public Listener {
 public:
  // What only the executor could see is wrong with a command.
  virtual void note_failure(cl_int code) = 0;

 protected:
  ~QueueListener() = default;
};

}  // namespace gt::virt
