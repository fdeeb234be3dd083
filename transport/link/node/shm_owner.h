// What the data channel of a link inside a node needs of it, besides its life. Thread safety: all functions.
#pragma once

#include "transport/link/base/segments.h"
#include "transport/link/node/remote_mapping.h"

namespace gt::wire {

class ShmOwner {
 public:
  virtual ~ShmOwner() = default;
  virtual Segments& segments() = 0;         // of this side
  virtual const RemoteMapping& peer() = 0;  // the peer's
  virtual std::optional<Address> shared_part(const void* p, size_t bytes) = 0;  // of ours that the peer maps
  virtual void copy(void* to, const void* from, size_t bytes) = 0;
};

}  // namespace gt::wire
