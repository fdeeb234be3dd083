// Token files: 64 hex digits and a line end, for the owner's eyes only.
#include "transport/link/hello/credentials.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "traces/base/fd.h"
#include "transport/link/hello/sha256.h"

namespace gt::wire {
namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Result<Bytes> read_token(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open()) return system_error("cannot open the token file " + path, errno);
  struct stat about {};
  if (::fstat(file.get(), &about) != 0) return system_error(path, errno);
  if (about.st_mode & (S_IRWXG | S_IRWXO))
    return Status(Kind::Invalid, "the token file " + path + " can be read by others: chmod 600 " + path);
  char text[2 * TokenBytes + 2];
  const ssize_t n = ::read(file.get(), text, sizeof text);
  const bool sized = n == 2 * TokenBytes || (n == 2 * TokenBytes + 1 && text[n - 1] == '\n');
  Bytes token;
  for (size_t i = 0; sized && i < TokenBytes; ++i) {
    const int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
    if (high < 0 || low < 0) break;
    token.push_back(static_cast<uint8_t>(high * 16 + low));
  }
  if (token.size() == TokenBytes) return token;
  return Status(Kind::Invalid, "the token file " + path + " does not hold 64 hex digits");
}

Result<Bytes> make_token(const std::string& path) {
  Bytes token(TokenBytes);
  if (::getrandom(token.data(), token.size(), 0) != static_cast<ssize_t>(token.size()))
    return system_error("getrandom", errno);
  const std::string text = hex_text(token) + '\n';
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.open() && errno == EEXIST) return Status(Kind::Busy, "the token file " + path + " is there already");
  if (!file.open()) return system_error("cannot make the token file " + path, errno);
  if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return system_error("cannot write the token file " + path, errno);
  return token;
}

}  // namespace gt::wire
