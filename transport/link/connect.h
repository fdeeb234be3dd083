// How links come about: connecting, and a server's side of it (docs/links.md has the bytes).
//
// A client connects, says hello (64 bytes, in clear) and both sides prove that they hold the same token, or have
// certificates of the same authority, or (over a Unix socket) belong to the same user. A session has a control and,
// between nodes, a data connection; each that breaks is made again by a connection that names the session.
//
//   client                   supervisor                          worker, one for each session
//   connect(url, ...) ─────► Reception: reads the hello
//                            new session: forks, hand_over() ──► accept_link(): authenticates, gives a Link
//   data, resumed ─────────► of a session: hand_over() ────────► the link takes it by itself
//
// The supervisor looks at nothing but the hello. Everything that is read has a fixed size and a deadline.
// Thread safety: functions from any thread.
#pragma once

#include <memory>

#include "traces/base/fd.h"
#include "traces/base/status.h"
#include "transport/link/base/link.h"
#include "transport/link/base/options.h"
#include "transport/link/hello/credentials.h"
#include "transport/link/hello/hello.h"
#include "transport/link/hello/url.h"
#include "transport/link/transports.h"

namespace gt::wire {

// --- Client ---
// Errors: Invalid (URL, credentials), Disconnected (nobody there, refused; the text says why), Unsupported (version,
// no OpenSSL), System.
Result<std::unique_ptr<Link>> connect(const Url& url, const Credentials& credentials, const LinkOptions& options = {});

// The same to a server that waits for us under this name and a token that nobody else has: another executor of the same
// client. A server that does not know the name refuses; belonging to the same user proves nothing here.
Result<std::unique_ptr<Link>> connect_to_peer(const Url& url, const SessionId& session, const Credentials& credentials,
                                              const LinkOptions& options = {});

// --- Server ---
// The worker's side: waits, as long as it takes, for the first connection of a session (or of a peer's) from `handover`
// (and takes later ones, for as long as the link lives), authenticates the client and gives the link. The supervisor's
// end may be closed at any time: then a broken connection cannot be resumed.
Result<std::unique_ptr<Link>> accept_link(Fd handover, const Credentials& credentials, const LinkOptions& options = {});

}  // namespace gt::wire
