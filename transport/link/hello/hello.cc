// The hello: 64 bytes, and the eight with which it is answered (docs/links.md).
#include "transport/link/hello/hello.h"

#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace gt::wire {
namespace {

constexpr char HelloMagic[8] = {'G', 'T', 'L', 'I', 'N', 'K', '\r', '\n'};
constexpr uint32_t AnswerMagic = 0x414c5447;  // "GTLA"

struct RawHello {
  char magic[8];
  uint16_t version_low, version_high;
  uint8_t purpose, proof, tls, zero;
  uint8_t session[16];
  uint8_t nonce[32];
};
static_assert(sizeof(RawHello) == HelloBytes);

Status not_ours() { return {Kind::Corrupt, "this is not a gtrace client"}; }

Result<Hello> parse(const std::array<uint8_t, HelloBytes>& bytes) {
  RawHello raw;
  std::memcpy(&raw, bytes.data(), sizeof raw);
  const bool known = raw.purpose >= 1 && raw.purpose <= 4 && raw.proof >= 1 && raw.proof <= 3 && raw.tls <= 1;
  if (std::memcmp(raw.magic, HelloMagic, sizeof HelloMagic) != 0 || !known || raw.zero != 0) return not_ours();
  Hello hello;
  hello.version_low = raw.version_low;
  hello.version_high = raw.version_high;
  hello.purpose = static_cast<Hello::Purpose>(raw.purpose);
  hello.proof = static_cast<Hello::Proof>(raw.proof);
  hello.tls = raw.tls != 0;
  std::memcpy(hello.session.data(), raw.session, sizeof raw.session);
  std::memcpy(hello.nonce.data(), raw.nonce, sizeof raw.nonce);
  return hello;
}

}  // namespace

std::array<uint8_t, HelloBytes> to_bytes(const Hello& hello) {
  RawHello raw{};
  std::memcpy(raw.magic, HelloMagic, sizeof raw.magic);
  raw.version_low = hello.version_low;
  raw.version_high = hello.version_high;
  raw.purpose = static_cast<uint8_t>(hello.purpose);
  raw.proof = static_cast<uint8_t>(hello.proof);
  raw.tls = hello.tls;
  std::memcpy(raw.session, hello.session.data(), sizeof raw.session);
  std::memcpy(raw.nonce, hello.nonce.data(), sizeof raw.nonce);
  std::array<uint8_t, HelloBytes> bytes;
  std::memcpy(bytes.data(), &raw, sizeof raw);
  return bytes;
}

Result<Hello> hello_from_bytes(const std::array<uint8_t, HelloBytes>& bytes) { return parse(bytes); }

Status fill_random(std::span<uint8_t> bytes) {
  if (::getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size())) return {};
  return system_error("getrandom", errno);
}

Result<std::optional<Hello>> HelloReader::read(int fd) {
  const ssize_t n = ::recv(fd, bytes_.data() + have_, HelloBytes - have_, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return std::optional<Hello>();
  if (n < 0) return system_error("a new connection", errno);
  if (n == 0) return Status(Kind::Disconnected, "a new connection ended at once");
  have_ += static_cast<size_t>(n);
  if (std::memcmp(bytes_.data(), HelloMagic, std::min(have_, sizeof HelloMagic)) != 0) return not_ours();
  if (have_ < HelloBytes) return std::optional<Hello>();
  auto hello = parse(bytes_);
  if (!hello) return hello.status();
  return std::optional<Hello>(*hello);
}

std::array<uint8_t, AnswerBytes> answer_bytes(uint16_t version, uint16_t refusal) {
  std::array<uint8_t, AnswerBytes> bytes;
  std::memcpy(bytes.data(), &AnswerMagic, 4);
  std::memcpy(bytes.data() + 4, &version, 2);
  std::memcpy(bytes.data() + 6, &refusal, 2);
  return bytes;
}

Result<uint16_t> read_answer(const std::array<uint8_t, AnswerBytes>& bytes) {
  uint32_t magic;
  uint16_t version, refusal;
  std::memcpy(&magic, bytes.data(), 4);
  std::memcpy(&version, bytes.data() + 4, 2);
  std::memcpy(&refusal, bytes.data() + 6, 2);
  if (magic != AnswerMagic) return Status(Kind::Corrupt, "what answers there is not gproxy");
  if (refusal != 0) return refused(refusal);
  if (version < OldestVersion || version > NewestVersion)
    return Status(Kind::Unsupported, "the server chose version " + std::to_string(version) + ": not known here");
  return version;
}

void refuse(int fd, Refusal why) {
  const auto bytes = answer_bytes(NewestVersion, static_cast<uint16_t>(why));
  (void)!::send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

Status refused(uint16_t code) {
  const int number = FirstRefusalCode + code;
  switch (static_cast<Refusal>(code)) {
    case Refusal::Version:
      return {Kind::Unsupported, "the server speaks another version: install the same release on both sides", number};
    case Refusal::Unauthorized:
      return {Kind::Invalid, "the server does not accept the token or certificate", number};
    case Refusal::NoSession:
      return {Kind::Disconnected, "the server no longer has this session", number};
    case Refusal::Busy:
      return {Kind::Busy, "the server has as many clients as it takes: try again later", number};
    case Refusal::Draining:
      return {Kind::Disconnected, "the server is shutting down", number};
    case Refusal::Proof:
      return {Kind::Invalid, "the server wants another proof of who you are: its token, or tls:// with a certificate",
              number};
  }
  return {Kind::Disconnected, "the server refused with code " + std::to_string(code), number};
}

}  // namespace gt::wire
