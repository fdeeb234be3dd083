// The times of a link, and what it lets pass. Thread safety: values.
#pragma once

#include <cstdint>

namespace gt::wire {

struct LinkOptions {
  uint32_t connect_ms = 2000;    // for one connection and its authentication
  uint32_t heartbeat_ms = 1000;  // when there is nothing else to say
  uint32_t dead_ms = 3000;       // without a sign of the peer: the connection is given up
  // Without a sign of the peer: the link is closed. Of both sides the smaller. A cut of 5 s, up to a second since the
  // last sign before it, and connecting anew.
  uint32_t grace_ms = 6500;
  bool allow_same_user = true;   // a Unix-socket peer of the same user needs no token
};

}  // namespace gt::wire
