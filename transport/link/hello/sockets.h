// Listening, accepting and connecting: what links need of the system's sockets. Thread safety: functions from any
// thread.
#pragma once

#include "traces/base/fd.h"
#include "traces/base/status.h"
#include "transport/link/base/waiting.h"
#include "transport/link/hello/url.h"

namespace gt::wire {

// --- Server ---
// A listening socket, close-on-exec, not blocking. A Unix socket's folder is made (0700) and a stale socket replaced;
// Busy: somebody listens there.
Result<Fd> listen_on(const Url& url);
// Where it listens, with the port that it got.
Result<Url> address_of(int listener, const Scheme* scheme);
// Busy: nobody waits.
Result<Fd> accept_connection(int listener);

// --- Client ---
// A connected socket that does not block. Errors are Disconnected with errno as code where there is one.
Result<Fd> connect_to(const Url& url, Deadline deadline, int wake = -1);
// Of an attempt to connect: another would not help. Nobody listens there, or who does has refused.
bool is_final(const Status& status);
// Where the other end is, as a URL that needs no name to be looked up.
Result<Url> address_of_peer(int connection, const Scheme* scheme);

// --- Both ---
// No waiting for small writes to be joined; little data waits in the kernel unsent, so that delay is seen by us.
void tune(int connection);
bool is_unix(int socket);

}  // namespace gt::wire
