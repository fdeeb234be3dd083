// All sessions of the process: they finish together when it ends, and are forgotten in a child of fork().
// Thread safety: any thread.
#pragma once

#include <string>

#include "optimizer-rt/client/session/connection.h"
#include "optimizer-rt/client/session/session.h"

namespace gt::virt {

// A session over the connection, which has begun; `surveyed`: what is there.
Result<Session*> open_session(Connection connection, wire::Surveyed& surveyed);

// RegisteredMemory::deregister() of all sessions.
bool deregister_everywhere(const void* base, size_t bytes);

}  // namespace gt::virt
