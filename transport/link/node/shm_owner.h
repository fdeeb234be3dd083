// What the channels of a link inside a node need of it. Thread safety: functions from any thread.
#pragma once

#include "transport/link/base/segments.h"
#include "transport/link/node/remote_mapping.h"
#include "transport/link/node/shm_word.h"

namespace gt::wire {

class ShmOwner {
 public:
  virtual ~ShmOwner() = default;
  virtual LinkHandler& handler() = 0;
  virtual Segments& segments() = 0;         // of this side
  virtual const RemoteMapping& peer() = 0;  // the peer's
  virtual std::optional<Address> shared_part(const void* p, size_t bytes) = 0;  // of ours that the peer maps
  virtual void copy(void* to, const void* from, size_t bytes) = 0;
  virtual bool in_handler() = 0;            // called by a thread of the link: it must not wait
  virtual bool is_ended() = 0;
  virtual bool is_open() = 0;               // nor closing
  virtual Status why_closed() = 0;
  virtual void fail(const Status& why) = 0;
  virtual Status answer(const Word& word) = 0;  // what the peer asked
};

}  // namespace gt::wire
