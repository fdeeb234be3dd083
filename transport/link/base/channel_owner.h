// What the two channels of a link need of it. Thread safety: functions from any thread.
#pragma once

#include "transport/link/base/link.h"
#include "transport/link/base/segments.h"

namespace gt::wire {

class ChannelOwner {
 public:
  virtual ~ChannelOwner() = default;
  virtual LinkHandler& handler() = 0;
  virtual Segments& segments() = 0;
  virtual bool in_handler() = 0;                  // called by a thread of the link: it must not wait
  virtual Status why_closed() = 0;
  virtual void lost_connection() = 0;             // it will be resumed, or the link closed
  virtual void fail(const Status& why) = 0;       // closes the link
  virtual void peer_says_bye() = 0;               // once for each channel, by its thread
  virtual void ticks() = 0;
  virtual void channel_has_ended() = 0;  // once for each channel, its thread's last act
};

}  // namespace gt::wire
