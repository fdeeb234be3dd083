// How a connection becomes one of a session: both sides prove who they are, and agree where their streams go on.
//
//   client                                       server
//   hello (64 bytes, in clear) ────────────────►
//                              ◄──────────────── answer (8 bytes, in clear): version, or refusal
//   [TLS 1.3 handshake, when the hello says so; everything below is inside]
//                              ◄──────────────── welcome: limits, nonce, proof over hello and welcome
//   claim: limits, position, proof over all ───►
//                              ◄──────────────── ready: position, proof over all; or refusal
//
// A proof is an HMAC-SHA256 under the token. Where certificates or the kernel vouch for the peer the key is empty, and
// the proof only binds the messages together. Each side's proof covers the other's fresh nonce and begins with its
// own role, so it can be neither replayed nor reflected. A position says how many bytes of the other's stream have
// arrived: 0 for a connection that resumes nothing.
// Thread safety: none needed; one handshake a connection.
#pragma once

#include <functional>

#include "traces/base/fd.h"
#include "transport/link/base/options.h"
#include "transport/link/hello/credentials.h"
#include "transport/link/hello/hello.h"
#include "transport/link/hello/socket.h"
#include "transport/link/hello/url.h"

namespace gt::wire {

struct Agreed {
  Socket socket;
  uint32_t dead_ms = 0, grace_ms = 0;
  uint64_t peer_received = 0;  // of what this side sent
};

struct Handshake {
  const Credentials& credentials;
  const LinkOptions& options;
  Deadline deadline;
  int wake = -1;  // readable: give up
};

// What a client says to make a connection; its nonce is yet to be filled.
Hello make_hello(const Url& url, const Credentials& credentials, Hello::Purpose purpose, const SessionId& session);

// `received`: how much of the server's stream is here.
Result<Agreed> introduce(Fd connection, const Hello& hello, const std::string& host, uint64_t received,
                         const Handshake& how);

// The hello has been read. `received` is asked when the client has proved who it is: from then on nothing may be taken
// from an older connection. A refusal is told to the client.
Result<Agreed> welcome(Fd connection, const Hello& hello, const std::function<Result<uint64_t>()>& received,
                       const Handshake& how);

// The peer of a Unix socket runs under our user (or is root).
bool is_same_user(int fd);

}  // namespace gt::wire
