// All sessions of the process: they finish together when it ends, and are forgotten in a child of fork().
// Thread safety: any thread.
#pragma once

#include <string>

#include "optimizer-rt/client/session/connection.h"
#include "optimizer-rt/client/session/session.h"

namespace gt::virt {

// A session over the connection, which has begun; `surveyed`: what is there. Waits for the executor's answers. It is
// never destroyed. Disconnected: the link was closed.
Result<Session*> open_session(Connection connection, wire::Surveyed& surveyed);

// RegisteredMemory::deregister() of all sessions. False: one of them uses it; others may have let go of it already.
// Cost: a round trip for each that maps it.
bool deregister_everywhere(const void* base, size_t bytes);

}  // namespace gt::virt
