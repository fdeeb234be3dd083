// OpenSSL reads and writes through functions of ours, so that no signal is raised when the peer is gone.
#include "transport/link/hello/tls.h"

#include <sys/socket.h>

#include <cstring>
#include <string>

#include "traces/base/mutex.h"
#include "transport/link/hello/openssl.h"

namespace gt::wire {
namespace {

// Numbers of OpenSSL 3's headers, which are part of its ABI.
constexpr int CtrlMode = 33, CtrlMinVersion = 123, CtrlFlush = 11, PemFile = 1;
constexpr long PartialWrite = 1, MovingBuffer = 2, Tls13 = 0x0304;
constexpr int VerifyPeer = 1, VerifyFail = 2;
constexpr int WantRead = 2, WantWrite = 3;
constexpr int BioRead = 1, BioWrite = 2, BioRetry = 8, BioSourceSink = 0x0400, BioIndex = 100;
constexpr size_t Record = size_t{16} << 10;

int socket_of(void* bio) { return static_cast<int>(reinterpret_cast<intptr_t>((*openssl())->BIO_get_data(bio))); }

int finish(void* bio, ssize_t n, int direction) {
  (*openssl())->BIO_clear_flags(bio, BioRead | BioWrite | BioRetry);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
    (*openssl())->BIO_set_flags(bio, direction | BioRetry);
  return static_cast<int>(n);
}
int write_socket(void* bio, const char* from, int bytes) {
  return finish(bio, ::send(socket_of(bio), from, static_cast<size_t>(bytes), MSG_DONTWAIT | MSG_NOSIGNAL), BioWrite);
}
int read_socket(void* bio, char* to, int bytes) {
  return finish(bio, ::recv(socket_of(bio), to, static_cast<size_t>(bytes), MSG_DONTWAIT), BioRead);
}
long control_socket(void*, int command, long, void*) { return command == CtrlFlush; }

void* socket_method(const OpenSsl& s) {
  static void* const method = [&] {
    void* const m = s.BIO_meth_new(BioIndex | BioSourceSink, "gtrace socket");
    s.BIO_meth_set_write(m, write_socket);
    s.BIO_meth_set_read(m, read_socket);
    s.BIO_meth_set_ctrl(m, control_socket);
    return m;
  }();
  return method;
}

std::string last_error(const OpenSsl& s) {
  char text[256] = "unknown";
  unsigned long first = s.ERR_get_error();
  if (first) s.ERR_error_string_n(first, text, sizeof text);
  while (s.ERR_get_error()) {
  }
  return text;
}

}  // namespace

// What the three files hold. Thread safety: any number of connections.
class TlsContext {
 public:
  static Result<std::shared_ptr<const TlsContext>> load(Tls::Side side, const Credentials& c);
  ~TlsContext() {
    if (handle_) s_.SSL_CTX_free(handle_);
  }
  void* handle() const { return handle_; }

 private:
  explicit TlsContext(const OpenSsl& functions) : s_(functions) {}
  Status read(Tls::Side side, const Credentials& c);
  const OpenSsl& s_;
  void* handle_ = nullptr;
};

struct Tls::State {
  const OpenSsl& s;
  std::shared_ptr<const TlsContext> context;
  Mutex mutex;  // an SSL object has no concurrent reader and writer
  void* ssl = nullptr;  // with the mutex, once shake_hands() is over

  explicit State(const OpenSsl& functions) : s(functions) {}
  ~State() {
    if (ssl) s.SSL_free(ssl);
  }

  Status open(int fd, Side side, const std::string& host);
  Status shake_hands(const OwnFd& fd, Side side, Deadline deadline, int wake);
  // -1: over; 0: wait
  ssize_t outcome(int n) {
    if (n > 0) return n;
    const int error = s.SSL_get_error(ssl, n);
    return error == WantRead || error == WantWrite ? 0 : -1;
  }
};

Status TlsContext::read(Tls::Side side, const Credentials& c) {
  if (c.cert.empty() || c.key.empty() || c.ca.empty())
    return {Kind::Invalid, "tls:// needs three files: a certificate, its key, and the authority's certificate"};
  s_.ERR_clear_error();
  handle_ = s_.SSL_CTX_new(side == Tls::Side::Client ? s_.TLS_client_method() : s_.TLS_server_method());
  if (!handle_) return {Kind::System, "OpenSSL: " + last_error(s_)};
  s_.SSL_CTX_ctrl(handle_, CtrlMinVersion, Tls13, nullptr);
  s_.SSL_CTX_ctrl(handle_, CtrlMode, PartialWrite | MovingBuffer, nullptr);
  s_.SSL_CTX_set_num_tickets(handle_, 0);
  if (s_.SSL_CTX_use_certificate_chain_file(handle_, c.cert.c_str()) != 1)
    return {Kind::Invalid, "the certificate " + c.cert + ": " + last_error(s_)};
  if (s_.SSL_CTX_use_PrivateKey_file(handle_, c.key.c_str(), PemFile) != 1 ||
      s_.SSL_CTX_check_private_key(handle_) != 1)
    return {Kind::Invalid, "the key " + c.key + ": " + last_error(s_)};
  if (s_.SSL_CTX_load_verify_locations(handle_, c.ca.c_str(), nullptr) != 1)
    return {Kind::Invalid, "the authority's certificate " + c.ca + ": " + last_error(s_)};
  s_.SSL_CTX_set_verify(handle_, VerifyPeer | VerifyFail, nullptr);
  return {};
}

Result<std::shared_ptr<const TlsContext>> TlsContext::load(Tls::Side side, const Credentials& c) {
  const auto functions = openssl();
  if (!functions) return functions.status();
  const std::shared_ptr<TlsContext> context(new TlsContext(**functions));
  GT_TRY(context->read(side, c));
  return std::shared_ptr<const TlsContext>(context);
}

Status load_certificates(Credentials& credentials) {
  auto server = TlsContext::load(Tls::Side::Server, credentials);
  if (!server) return server.status();
  auto client = TlsContext::load(Tls::Side::Client, credentials);
  if (!client) return client.status();
  credentials.server = std::move(*server);
  credentials.client = std::move(*client);
  return {};
}

Status Tls::State::open(int fd, Side side, const std::string& host) {
  ssl = s.SSL_new(context->handle());
  void* const bio = ssl ? s.BIO_new(socket_method(s)) : nullptr;
  if (!bio) return {Kind::System, "OpenSSL: " + last_error(s)};
  s.BIO_set_data(bio, reinterpret_cast<void*>(static_cast<intptr_t>(fd)));
  s.BIO_set_init(bio, 1);
  s.SSL_set_bio(ssl, bio, bio);
  if (side == Side::Server) return {};
  const bool is_address = s.X509_VERIFY_PARAM_set1_ip_asc(s.SSL_get0_param(ssl), host.c_str()) == 1;
  s.ERR_clear_error();
  if (is_address || s.SSL_set1_host(ssl, host.c_str()) == 1) return {};
  return {Kind::Invalid, "the host " + host + " cannot be checked: " + last_error(s)};
}

Status Tls::State::shake_hands(const OwnFd& fd, Side side, Deadline deadline, int wake) {
  while (true) {
    if (!fd.is_ours()) return {Kind::Disconnected, "TLS: the connection's descriptor was closed"};
    s.ERR_clear_error();
    const int n = side == Side::Client ? s.SSL_connect(ssl) : s.SSL_accept(ssl);
    if (n == 1) return {};
    const int error = s.SSL_get_error(ssl, n);
    if (error == WantRead || error == WantWrite) {
      if (wait_for(fd, error == WantRead ? POLLIN : POLLOUT, deadline, wake)) continue;
      return {Kind::Disconnected, "TLS: the other side does not answer in time"};
    }
    if (const long verdict = s.SSL_get_verify_result(ssl); verdict != 0)
      return {Kind::Invalid, std::string("the other side's certificate: ") + s.X509_verify_cert_error_string(verdict)};
    return {Kind::Disconnected, "TLS: " + last_error(s)};
  }
}

Tls::Tls(std::unique_ptr<State> state) : state_(std::move(state)) {}
Tls::~Tls() = default;

Status Tls::available() { return openssl().status(); }

Result<std::unique_ptr<Tls>> Tls::start(const OwnFd& fd, Side side, const std::string& host,
                                        const Credentials& credentials, Deadline deadline, int wake) {
  const auto functions = openssl();
  if (!functions) return functions.status();
  auto state = std::make_unique<State>(**functions);
  Result<std::shared_ptr<const TlsContext>> context = side == Side::Server ? credentials.server : credentials.client;
  const bool loaded = *context != nullptr;
  if (!loaded) context = TlsContext::load(side, credentials);
  if (!context) return context.status();
  state->context = std::move(*context);
  GT_TRY(state->open(fd.get(), side, host));
  GT_TRY(state->shake_hands(fd, side, deadline, wake));
  return std::unique_ptr<Tls>(new Tls(std::move(state)));
}

ssize_t Tls::read(std::span<const iovec> to) {
  const MutexLock lock(state_->mutex);
  state_->s.ERR_clear_error();
  return state_->outcome(state_->s.SSL_read(state_->ssl, to[0].iov_base, static_cast<int>(to[0].iov_len)));
}

// One record. Small parts are joined: a record for each would cost more than the copy.
ssize_t Tls::write(std::span<const iovec> from) {
  const MutexLock lock(state_->mutex);
  state_->s.ERR_clear_error();
  if (from[0].iov_len >= Record)
    return state_->outcome(state_->s.SSL_write(state_->ssl, from[0].iov_base, static_cast<int>(Record)));
  char joined[Record];
  size_t n = 0;
  for (const iovec& part : from) {
    const size_t take = std::min(part.iov_len, Record - n);
    std::memcpy(joined + n, part.iov_base, take);
    n += take;
  }
  return state_->outcome(state_->s.SSL_write(state_->ssl, joined, static_cast<int>(n)));
}

}  // namespace gt::wire
