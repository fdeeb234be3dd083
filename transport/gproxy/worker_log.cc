#include "transport/gproxy/worker_log.h"

#include <unistd.h>

#include <array>
#include <cerrno>

#include "transport/gproxy/log.h"

namespace gt::proxy {
namespace {

constexpr size_t LongestLine = 800;  // bytes; the rest is another line
constexpr int ReadsAtATime = 16;     // so that one worker cannot keep the supervisor

}  // namespace

bool WorkerLog::drain(int pipe, const std::string& name) {
  std::array<char, 4096> bytes;
  for (int i = 0; i < ReadsAtATime; ++i) {
    const ssize_t n = ::read(pipe, bytes.data(), bytes.size());
    if (n == 0) return false;
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    add(bytes.data(), static_cast<size_t>(n), name);
  }
  return true;
}

void WorkerLog::add(const char* bytes, size_t n, const std::string& name) {
  for (size_t i = 0; i < n; ++i) {
    if (bytes[i] != '\n') line_ += bytes[i];
    if (bytes[i] != '\n' && line_.size() < LongestLine) continue;
    if (!line_.empty()) say(line_, name);
    line_.clear();
  }
}

void WorkerLog::say(const std::string& line, const std::string& name) {
  if (!allowance_.take()) return;
  say_left_out(name);
  log("{}: {}", name, line);
}

void WorkerLog::say_left_out(const std::string& name) {
  if (const uint64_t n = allowance_.take_left_out()) log("{}: {} lines left out", name, n);
}

void WorkerLog::finish(const std::string& name) {
  if (!line_.empty()) log("{}: {}", name, line_);
  say_left_out(name);
  line_.clear();
}

}  // namespace gt::proxy
