// tcp:// and tls://: how a link over two connections begins. Thread safety: functions from any thread.
#pragma once

#include <memory>

#include "transport/link/base/link.h"
#include "transport/link/hello/opening.h"

namespace gt::wire {

// As Transport's (transports.h).
bool takes_tcp(int connection, const Hello& hello);
bool takes_tls(int connection, const Hello& hello);
Result<std::unique_ptr<Link>> begin_tcp(const Opening& opening, Agreed control);
Result<std::unique_ptr<Link>> accept_tcp(Arrival arrival, Agreed control);

}  // namespace gt::wire
