// write(2) in large pieces.
#include "tracer/gtrace/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "traces/base/command.h"

namespace gt::tracer {

Output::Output() {
  std::signal(SIGPIPE, SIG_IGN);
  buffer_.reserve(Limit * 2);
}

void Output::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty() && error_ == 0) {
    const ssize_t n = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (n >= 0) {
      rest.remove_prefix(static_cast<size_t>(n));
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  buffer_.clear();
}

int Output::finish() {
  flush();
  if (error_ == 0 || error_ == EPIPE) return ExitOk;
  std::fprintf(stderr, "gtrace: cannot write the output: %s\n", std::strerror(error_));
  return ExitEnvironment;
}

bool output_is_terminal() { return ::isatty(STDOUT_FILENO) == 1; }

size_t terminal_width() {
  if (const char* columns = std::getenv("COLUMNS")) {
    if (const unsigned long n = std::strtoul(columns, nullptr, 10); n > 0 && n < 10000) return n;
  }
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace gt::tracer
