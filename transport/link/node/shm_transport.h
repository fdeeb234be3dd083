// shm: how a link inside a node begins. Thread safety: functions from any thread.
#pragma once

#include <memory>

#include "transport/link/base/link.h"
#include "transport/link/hello/opening.h"

namespace gt::wire {

// As Transport's (transports.h).
bool takes_shm(int connection, const Hello& hello);
Result<std::unique_ptr<Link>> begin_shm(const Opening& opening, Agreed control);
Result<std::unique_ptr<Link>> accept_shm(Arrival arrival, Agreed control);

}  // namespace gt::wire
