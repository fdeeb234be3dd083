#include "transport/gproxy/log.h"

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <ctime>
#include <string>

namespace gt::proxy {
namespace {

constexpr size_t LongestText = 1000;  // with the rest of a line less than PIPE_BUF: a write to a pipe is whole or not

std::atomic<uint64_t> lost{0};

std::string time_of_day() {
  if (std::getenv("JOURNAL_STREAM")) return {};
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  char text[32];
  localtime_r(&now, &parts);
  return {text, std::strftime(text, sizeof text, "%F %T ", &parts)};
}

}  // namespace

void log_line(std::string_view text) {
  std::string line = time_of_day() + "gproxy: ";
  for (const char c : text.substr(0, LongestText)) {
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    line += control ? '?' : c;
  }
  line += '\n';
  pollfd out{STDERR_FILENO, POLLOUT, 0};
  const bool writable = ::poll(&out, 1, 0) == 1 && (out.revents & POLLOUT);
  if (!writable || ::write(STDERR_FILENO, line.data(), line.size()) != static_cast<ssize_t>(line.size())) ++lost;
}

uint64_t lost_lines() { return lost; }

}  // namespace gt::proxy
