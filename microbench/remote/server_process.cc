#include "microbench/remote/server_process.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "traces/base/clock.h"
#include "traces/base/fd.h"

namespace gt::bench {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t Start_ns = 30'000'000'000;
constexpr int Look_ms = 100, Timeout_ms = 5000;

size_t line_that_begins(const std::string& text, const std::string& begin) {
  if (text.starts_with(begin)) return 0;
  const size_t at = text.find("\n" + begin);
  return at == std::string::npos ? at : at + 1;
}

// Of all its threads, also of those that have ended; to the clock's tick.
uint64_t own_cpu_ns(const std::string& pid) {
  std::ifstream in("/proc/" + pid + "/stat");
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::istringstream fields(text.substr(std::min(text.rfind(')') + 1, text.size())));
  std::string skipped;
  for (int i = 3; i < 14; ++i) fields >> skipped;
  uint64_t user = 0, system = 0;
  fields >> user >> system;
  return (user + system) * (1'000'000'000u / static_cast<uint64_t>(::sysconf(_SC_CLK_TCK)));
}

// ": LINE", or nothing.
std::string last_line(const std::string& path) {
  std::ifstream in(path);
  std::string last;
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) last = ": " + line;
  return last;
}

}  // namespace

ServerProcess::ServerProcess(ServerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), text_(std::move(other.text_)) {}

ServerProcess::~ServerProcess() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGTERM);
  if (!ends_within(pid_, Timeout_ms)) ::kill(pid_, SIGKILL);
  status_of(pid_);
}

Result<ServerProcess> ServerProcess::start(const std::vector<std::string>& command, const VariableChanges& variables,
                                           const std::string& log, const std::string& last) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("cannot make a pipe", errno);
  const Fd out(ends[0]);
  ServerProcess server;
  {
    const Fd in(ends[1]);
    FileActions actions;
    actions.open(STDIN_FILENO, "/dev/null", O_RDONLY);
    actions.take(in.get(), STDOUT_FILENO);
    actions.open(STDERR_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC);
    const Result<pid_t> started = spawn(command, variables, actions);
    if (!started) return started.status();
    server.pid_ = *started;
  }
  const Status s = server.listen(out.get(), last);
  if (!s.ok()) return Status(s.kind(), fs::path(command[0]).filename().string() + " " + s.text() + last_line(log));
  return server;
}

Status ServerProcess::listen(int out, const std::string& last) {
  const uint64_t end = monotonic_ns() + Start_ns;
  while (line_that_begins(text_, last) == std::string::npos || text_.back() != '\n') {
    pollfd p{out, POLLIN, 0};
    if (monotonic_ns() > end) return {Kind::Disconnected, "is not ready after 30 s"};
    if (::poll(&p, 1, Look_ms) <= 0) continue;
    char bytes[1024];
    const ssize_t n = ::read(out, bytes, sizeof bytes);
    if (n <= 0) return {Kind::Disconnected, "ended before it was ready"};
    text_.append(bytes, static_cast<size_t>(n));
  }
  return {};
}

std::string ServerProcess::said(const std::string& key) const {
  const size_t at = line_that_begins(text_, key);
  if (at == std::string::npos) return {};
  const size_t begin = text_.find_first_not_of(' ', at + key.size());
  return text_.substr(begin, text_.find('\n', begin) - begin);
}

uint64_t cpu_ns(pid_t process) {
  const std::string pid = std::to_string(process);
  uint64_t sum = own_cpu_ns(pid);
  std::ifstream children("/proc/" + pid + "/task/" + pid + "/children");
  for (std::string child; children >> child;) sum += own_cpu_ns(child);
  return sum;
}

}  // namespace gt::bench
