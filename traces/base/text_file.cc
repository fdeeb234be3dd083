#include "traces/base/text_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "traces/base/fd.h"

namespace gt {
namespace {

constexpr int Timeout_ms = 5000;

// Bytes; 0 at the end; -1 with errno.
ssize_t read_some(int fd, char* to, size_t bytes) {
  for (;;) {
    const ssize_t n = ::read(fd, to, bytes);
    if (n >= 0 || (errno != EAGAIN && errno != EINTR)) return n;
    if (pollfd p{fd, POLLIN, 0}; errno == EAGAIN && ::poll(&p, 1, Timeout_ms) == 0) return 0;
  }
}

}  // namespace

Result<std::string> read_text_file(const std::string& path, size_t most_bytes, const char* what) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // or a pipe without a writer would hold us
  struct stat is {};
  if (!fd.open() || ::fstat(fd.get(), &is) != 0) return system_error("cannot read " + path, errno);
  if (S_ISDIR(is.st_mode)) return Status(Kind::Corrupt, path + ": is a folder, not " + what);
  std::string text;
  char part[1 << 14];
  for (ssize_t n; (n = read_some(fd.get(), part, sizeof part)) != 0;) {
    if (n < 0) return system_error("cannot read " + path, errno);
    text.append(part, static_cast<size_t>(n));
    if (text.size() > most_bytes) return Status(Kind::Corrupt, path + ": too large for " + what);
  }
  return text;
}

}  // namespace gt
