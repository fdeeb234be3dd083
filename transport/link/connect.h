// How links come about: URLs, credentials, connecting, and a server's side of it (docs/links.md has the bytes).
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

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "traces/base/bytes.h"
#include "traces/base/fd.h"
#include "traces/base/status.h"
#include "transport/link/base/link.h"

namespace gt::wire {

class TlsContext;

struct Url {
  enum class Scheme : uint8_t { Shm, Tcp, Tls };
  Scheme scheme = Scheme::Tcp;
  std::string name;   // Shm: NAME of shm:NAME; one with a slash is the path of the socket
  std::string host;   // Tcp, Tls; an IPv6 address without its brackets
  uint16_t port = 0;  // 0 (to listen only): any

  bool operator==(const Url&) const = default;
};
constexpr uint16_t DefaultPort = 7447;

// shm:NAME, tcp://HOST[:PORT], tls://HOST[:PORT]. Errors are Invalid.
Result<Url> parse_url(std::string_view text);
std::string to_text(const Url& url);
// Of a Shm URL: $XDG_RUNTIME_DIR/gtrace/NAME.sock, or /tmp/gtrace-UID/NAME.sock.
std::string socket_path(const Url& url);
// No packet to it leaves this machine: shm, a loopback address, localhost.
bool is_local(const Url& url);

constexpr size_t TokenBytes = 32;
struct Credentials {
  Bytes token;                // TokenBytes; none: not by token
  std::string cert, key, ca;  // files (PEM); tls:// needs all three
  std::shared_ptr<const TlsContext> server = {}, client = {};  // load_certificates(): what they hold
};
// For a process that cannot read its files later: links made with these credentials do not open them again.
Status load_certificates(Credentials& credentials);
// A token file: 64 hex digits, readable by its owner only.
Result<Bytes> read_token(const std::string& path);
Result<Bytes> make_token(const std::string& path);  // Busy: the file is there already

struct LinkOptions {
  uint32_t connect_ms = 2000;    // for one connection and its authentication
  uint32_t heartbeat_ms = 1000;  // when there is nothing else to say
  uint32_t dead_ms = 3000;       // without a sign of the peer: the connection is given up
  // Without a sign of the peer: the link is closed. Of both sides the smaller. A cut of 5 s, up to a second since the
  // last sign before it, and connecting anew.
  uint32_t grace_ms = 6500;
  bool allow_same_user = true;   // a Unix-socket peer of the same user needs no token
};

// --- Client ---
// Errors: Invalid (URL, credentials), Disconnected (nobody there, refused; the text says why), Unsupported (version,
// no OpenSSL), System.
Result<std::unique_ptr<Link>> connect(const Url& url, const Credentials& credentials, const LinkOptions& options = {});

using SessionId = std::array<uint8_t, 16>;  // random, made by the client; of a peer's session: by the server

// The same to a server that waits for us under this name and a token that nobody else has: another executor of the same
// client. A server that does not know the name refuses; belonging to the same user proves nothing here.
Result<std::unique_ptr<Link>> connect_to_peer(const Url& url, const SessionId& session, const Credentials& credentials,
                                              const LinkOptions& options = {});

// --- Server ---
struct Hello {
  enum class Purpose : uint8_t { Session = 1, Data = 2, Resume = 3, Peer = 4 };
  enum class Proof : uint8_t { Token = 1, Certificate = 2, SameUser = 3 };
  uint16_t version_low = 0, version_high = 0;  // of docs/links.md
  Purpose purpose = Purpose::Session;
  Proof proof = Proof::Token;
  bool tls = false;
  SessionId session{};
  std::array<uint8_t, 32> nonce{};
};
constexpr size_t HelloBytes = 64;
constexpr uint16_t OldestVersion = 1, NewestVersion = 1;

// Reads a hello as its bytes come in; never blocks, never reads beyond it.
class HelloReader {
 public:
  // Nothing: not all of it is there yet. Errors: Corrupt (not a hello), Disconnected, System.
  Result<std::optional<Hello>> read(int fd);

 private:
  std::array<uint8_t, HelloBytes> bytes_{};
  size_t have_ = 0;
};
// Waits for all of it.
Result<Hello> read_hello(int fd, uint32_t timeout_ms = 2000);

// Why a connection is not taken: the client's error says so.
enum class Refusal : uint16_t { Version = 1, Unauthorized = 2, NoSession = 3, Busy = 4, Draining = 5, Proof = 6 };
// Tells the client in a few bytes, without waiting; who calls closes the descriptor.
void refuse(int fd, Refusal why);

// A listening socket, close-on-exec, not blocking. A Unix socket's folder is made (0700) and a stale socket replaced;
// Busy: somebody listens there.
Result<Fd> listen_on(const Url& url);
// Where it listens, with the port that it got.
Result<Url> address_of(int listener, Url::Scheme scheme);
// Busy: nobody waits.
Result<Fd> accept_connection(int listener);

// Gives a connection, of which only the hello was read, to the worker at the other end of `worker`: a Unix socket made
// by worker_socket(). Does not block; Busy: the worker does not keep up. The caller closes its descriptors.
Status hand_over(int worker, int connection, const Hello& hello);
struct WorkerSocket {
  Fd supervisor, worker;  // both close-on-exec; a launcher clears that of `worker`
};
Result<WorkerSocket> worker_socket();

// The worker's side: waits, as long as it takes, for the first connection of a session (or of a peer's) from `handover`
// (and takes later ones, for as long as the link lives), authenticates the client and gives the link. The supervisor's
// end may be closed at any time: then a broken connection cannot be resumed.
Result<std::unique_ptr<Link>> accept_link(Fd handover, const Credentials& credentials, const LinkOptions& options = {});

}  // namespace gt::wire
