// The beginning of a link, before its transport takes over: what client and server know by then, and how either gets
// the session's further connections. Thread safety: functions from any thread.
#pragma once

#include "transport/link/hello/handover.h"
#include "transport/link/hello/handshake.h"

namespace gt::wire {

// The client's.
struct Opening {
  const Url& url;
  SessionId session;       // as the server knows it
  Hello::Purpose purpose;  // of the first connection
  const Handshake& how;
};

// The server's.
struct Arrival {
  Fd handover;  // where further connections come from
  Hello hello;  // of the first connection
  const Handshake& how;
};

// `address`: of the URL's host. `session`: its name, which may become another one when it begins.
Result<Agreed> make_connection(const Url& url, const Url& address, SessionId& session, Hello::Purpose purpose,
                               const Handshake& how);

// A connection from the supervisor.
Result<Handed> next_handed(int handover, Deadline deadline);

}  // namespace gt::wire
