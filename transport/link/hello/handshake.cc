#include "transport/link/hello/handshake.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

#include "transport/link/hello/sha256.h"
#include "transport/link/hello/sockets.h"

namespace gt::wire {
namespace {

struct Welcome {
  uint32_t dead_ms = 0, grace_ms = 0;
  std::array<uint8_t, 32> nonce{};
  Digest proof{};
};
struct Claim {
  uint32_t dead_ms = 0, grace_ms = 0;
  uint64_t received = 0;
  Digest proof{};
};
struct Ready {
  uint16_t refusal = 0, zero[3] = {};
  uint64_t received = 0;
  Digest proof{};
};
static_assert(sizeof(Welcome) == 72 && sizeof(Claim) == 48 && sizeof(Ready) == 48);

template <class T>
std::span<uint8_t> bytes_of(T& message) {
  return {reinterpret_cast<uint8_t*>(&message), sizeof message};
}
template <class T>
ByteView unproved(const T& message) {  // all but the proof, which is last
  return {reinterpret_cast<const uint8_t*>(&message), sizeof message - sizeof(Digest)};
}

// What has been said so far, which the next proof covers.
class Transcript {
 public:
  Transcript(const Hello& hello, const Credentials& credentials) {
    if (hello.proof == Hello::Proof::Token) key_ = credentials.token;
    add(to_bytes(hello));
  }
  void add(ByteView bytes) { said_.insert(said_.end(), bytes.begin(), bytes.end()); }
  template <class T>
  void prove(std::string_view role, T& message) const { message.proof = digest(role, message); }
  template <class T>
  bool proves(std::string_view role, const T& message) const {
    return same_digest(message.proof, digest(role, message));
  }

 private:
  template <class T>
  Digest digest(std::string_view role, const T& message) const {
    const ByteView parts[] = {as_bytes(role), said_, unproved(message)};
    return hmac_sha256(key_, parts);
  }
  Bytes key_, said_;
};

constexpr std::string_view Server = "gtrace server", Client = "gtrace client", Begin = "gtrace ready";

Status unauthorized(Socket& socket, const Handshake& how) {
  Ready ready;
  ready.refusal = static_cast<uint16_t>(Refusal::Unauthorized);
  (void)socket.write_all(bytes_of(ready), how.deadline, how.wake);
  return {Kind::Invalid, "a client without the right token was refused"};
}

// The way of proving that the client chose is one that this server takes.
bool accepts(const Hello& hello, int fd, const Handshake& how) {
  switch (hello.proof) {
    case Hello::Proof::Token:
      return how.credentials.token.size() == TokenBytes;
    case Hello::Proof::Certificate:
      return hello.tls;
    case Hello::Proof::SameUser:
      return how.options.allow_same_user && is_same_user(fd);
  }
  return false;
}

Result<Socket> protected_socket(Fd connection, const Hello& hello, Tls::Side side, const std::string& host,
                                const Handshake& how) {
  Socket socket(std::move(connection));
  if (!hello.tls) return socket;
  auto tls = Tls::start(socket.own_fd(), side, host, how.credentials, how.deadline, how.wake);
  if (!tls) return tls.status();
  socket.protect(std::move(*tls));
  return socket;
}

Agreed agree(Socket socket, const Welcome& welcome, const Claim& claim, uint64_t peer_received) {
  return {std::move(socket), std::min(claim.dead_ms, welcome.dead_ms), std::min(claim.grace_ms, welcome.grace_ms),
          peer_received};
}

Status check_terms(const Hello& hello, int fd, const Handshake& how) {
  if (hello.version_low > NewestVersion || hello.version_high < OldestVersion) {
    refuse(fd, Refusal::Version);
    return {Kind::Unsupported, "a client of another version was refused"};
  }
  if (accepts(hello, fd, how)) return {};
  refuse(fd, Refusal::Proof);
  return {Kind::Invalid, "a client that cannot be authenticated was refused"};
}

}  // namespace

bool is_same_user(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return is_unix(fd) && ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

Hello make_hello(const Url& url, const Credentials& credentials, Hello::Purpose purpose, const SessionId& session) {
  Hello hello;
  hello.version_low = OldestVersion;
  hello.version_high = NewestVersion;
  hello.purpose = purpose;
  hello.tls = url.is_encrypted();
  hello.proof = credentials.token.empty() ? Hello::Proof::Certificate : Hello::Proof::Token;
  hello.session = session;
  return hello;
}

Result<Agreed> introduce(Fd connection, const Hello& hello, const std::string& host, uint64_t received,
                         const Handshake& how) {
  Socket clear(std::move(connection));
  GT_TRY(clear.write_all(to_bytes(hello), how.deadline, how.wake));
  std::array<uint8_t, AnswerBytes> answer;
  GT_TRY(clear.read_all(answer, how.deadline, how.wake));
  if (auto version = read_answer(answer); !version) return version.status();
  auto socket = protected_socket(clear.release(), hello, Tls::Side::Client, host, how);
  if (!socket) return socket.status();
  Transcript transcript(hello, how.credentials);
  transcript.add(answer);

  Welcome welcome;
  GT_TRY(socket->read_all(bytes_of(welcome), how.deadline, how.wake));
  if (!transcript.proves(Server, welcome))
    return Status(Kind::Invalid, "the server does not hold the same token: use its token file");
  transcript.add(bytes_of(welcome));

  Claim claim{how.options.dead_ms, how.options.grace_ms, received, {}};
  transcript.prove(Client, claim);
  GT_TRY(socket->write_all(bytes_of(claim), how.deadline, how.wake));
  transcript.add(bytes_of(claim));

  Ready ready;
  GT_TRY(socket->read_all(bytes_of(ready), how.deadline, how.wake));
  if (ready.refusal != 0) return refused(ready.refusal);
  if (!transcript.proves(Begin, ready)) return Status(Kind::Corrupt, "the server's last word does not fit");
  return agree(std::move(*socket), welcome, claim, ready.received);
}

Result<Agreed> welcome(Fd connection, const Hello& hello, const std::function<Result<uint64_t>()>& received,
                       const Handshake& how) {
  GT_TRY(check_terms(hello, connection.get(), how));
  Socket clear(std::move(connection));
  const auto answer = answer_bytes(std::min(hello.version_high, NewestVersion), 0);
  GT_TRY(clear.write_all(answer, how.deadline, how.wake));
  auto socket = protected_socket(clear.release(), hello, Tls::Side::Server, {}, how);
  if (!socket) return socket.status();
  Transcript transcript(hello, how.credentials);
  transcript.add(answer);

  Welcome welcome{how.options.dead_ms, how.options.grace_ms, {}, {}};
  GT_TRY(fill_random(welcome.nonce));
  transcript.prove(Server, welcome);
  GT_TRY(socket->write_all(bytes_of(welcome), how.deadline, how.wake));
  transcript.add(bytes_of(welcome));

  Claim claim;
  GT_TRY(socket->read_all(bytes_of(claim), how.deadline, how.wake));
  if (!transcript.proves(Client, claim)) return unauthorized(*socket, how);
  transcript.add(bytes_of(claim));

  const auto position = received();
  if (!position) return position.status();
  Ready ready;
  ready.received = *position;
  transcript.prove(Begin, ready);
  GT_TRY(socket->write_all(bytes_of(ready), how.deadline, how.wake));
  return agree(std::move(*socket), welcome, claim, claim.received);
}

}  // namespace gt::wire
