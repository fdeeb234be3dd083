// Proxies that were told of each other, so that contents go from one to the other directly.
//
// The client asks one executor to wait for the other, and tells the other where
// (transport/executor/transfer/peers.h): at the URL that the client itself has of it, and on the same node through
// shared memory. When the first cannot be reached by the second it is tried the other way round. Who is connected to us
// by tls:// has no link to a peer that is not encrypted. Without a link, and when one is lost, contents go through us.
// Thread safety: all functions; none waits.
#pragma once

#include <cstdint>
#include <functional>

namespace gt::virt {

class Session;

// In the background; once for each pair. Sessions within this process, and a session and itself, have no need of it.
void begin_peering(Session& a, Session& b);
// `then` gets the name of their link; 0: there is none. Now, or when that is known, on the thread for work.
void when_peered(Session& a, Session& b, std::function<void(uint32_t peer)> then);
// False: it is known that they have no link.
bool may_be_peers(Session& a, Session& b);
// Their link is lost.
void part(Session& a, Session& b);

}  // namespace gt::virt
