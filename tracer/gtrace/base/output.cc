// write(2) in large pieces.
#include "tracer/gtrace/base/output.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "traces/base/command.h"

namespace gt::tracer {

Output::Output() : file_(STDOUT_FILENO), name_("the output") {
  std::signal(SIGPIPE, SIG_IGN);
  buffer_.reserve(Limit * 2);
}

Result<std::unique_ptr<Output>> Output::to_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return system_error(path, errno);
  auto out = std::make_unique<Output>();
  out->file_ = file;
  out->seekable_ = ::lseek(file, 0, SEEK_CUR) == 0;
  out->name_ = path;
  return out;
}

Output::~Output() {
  if (!buffer_.empty()) flush();
  if (file_ != STDOUT_FILENO) ::close(file_);
}

void Output::flush() {
  const size_t size = buffer_.size();
  if (seekable_) buffer_ += tail_;
  write_all(buffer_);
  written_ += size;
  if (seekable_ && ::lseek(file_, static_cast<off_t>(written_), SEEK_SET) < 0 && error_ == 0) error_ = errno;
  buffer_.clear();
}

void Output::write_all(std::string_view rest) {
  while (!rest.empty() && error_ == 0) {
    const ssize_t n = ::write(file_, rest.data(), rest.size());
    if (n >= 0) {
      rest.remove_prefix(static_cast<size_t>(n));
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
}

int Output::finish() {
  flush();
  if (!seekable_) write_all(tail_);
  if (error_ == 0 || error_ == EPIPE) return ExitOk;
  std::fprintf(stderr, "gtrace: cannot write %s: %s\n", name_.c_str(), std::strerror(error_));
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
