// gproxy status: asks a proxy of this machine and user what it does.
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "traces/base/command_line.h"
#include "traces/base/fd.h"
#include "transport/gproxy/commands.h"
#include "transport/gproxy/status.h"
#include "transport/link/transports.h"

namespace gt::proxy {
namespace {

constexpr int Timeout_ms = 5000;

// The rendezvous of a proxy that listens at `url`.
wire::Url rendezvous_of(const wire::Url& url) {
  if (url.in_node()) return url;
  return wire::node_url(std::to_string(url.port));
}

Result<Fd> reach(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return Status(Kind::Invalid, "too long a path: " + path);
  std::memcpy(address.sun_path, path.c_str(), path.size());
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  return Status(Kind::Disconnected, fmt::format("no gproxy of yours answers at {}: {}", path, std::strerror(errno)));
}

Result<std::string> read_all(int fd) {
  std::string text;
  std::array<char, 4096> part;
  while (true) {
    pollfd ready{fd, POLLIN, 0};
    if (::poll(&ready, 1, Timeout_ms) == 0) return Status(Kind::Busy, "the proxy does not answer");
    const ssize_t n = ::read(fd, part.data(), part.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error("the proxy does not answer", errno);
    if (n == 0) break;
    text.append(part.data(), static_cast<size_t>(n));
  }
  if (text.empty()) return Status(Kind::Disconnected, "the proxy did not answer: it belongs to another user");
  return text;
}

Result<std::string> ask(const std::string& text) {
  const Result<wire::Url> url = wire::parse_url(text);
  if (!url) return url.status();
  const Result<Fd> fd = reach(status_socket(wire::socket_path(rendezvous_of(*url))));
  if (!fd) return fd.status();
  return read_all(fd->get());
}

}  // namespace

int status_command(int argc, char** argv) {
  CommandLine line("gproxy status", "Tells who uses a proxy of this machine: one that you run yourself.");
  const Options& options = line.options();
  std::string url = fmt::format("tcp://127.0.0.1:{}", wire::DefaultPort);
  line.argument("URL", url, "Where it listens");
  if (const auto status = line.parse(argc, argv)) return *status;
  const Result<std::string> json = ask(url);
  if (!json) return fail(Program, json.status());
  const Result<std::string> text = options.flag("json") ? json : status_table(*json);
  if (!text) return fail(Program, text.status());
  const bool written = std::fputs(text->c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  return written ? ExitOk : fail(Program, system_error("cannot print", errno));
}

}  // namespace gt::proxy
