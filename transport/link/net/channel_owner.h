// What the two channels of a link between nodes need of it, besides its life. Thread safety: functions from any thread.
#pragma once

#include "transport/link/base/link_life.h"
#include "transport/link/base/segments.h"

namespace gt::wire {

class ChannelOwner {
 public:
  virtual ~ChannelOwner() = default;
  virtual LinkLife& life() = 0;
  virtual Segments& segments() = 0;
  virtual void lost_connection() = 0;  // it will be resumed, or the link closed
  virtual void peer_says_bye() = 0;    // once for each channel, by its thread
};

}  // namespace gt::wire
