#include "transport/gproxy/printed.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <thread>
#include <utility>

namespace gt::proxy {

Result<Printed*> Printed::capture() {
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) return system_error("pipe", errno);
  const Fd writer(pipe[1]);
  ::fcntl(pipe[0], F_SETFL, O_NONBLOCK);
  if (::dup2(writer.get(), STDOUT_FILENO) < 0) return system_error("standard output", errno);
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  auto* const printed = new Printed(Fd(pipe[0]));
  std::thread([printed] { printed->keep_empty(); }).detach();
  return printed;
}

void Printed::keep_empty() {
  pollfd ready{pipe_.get(), POLLIN, 0};
  while (::poll(&ready, 1, -1) >= 0 || errno == EINTR) {
    const std::lock_guard lock(mutex_);
    drain();
  }
}

void Printed::drain() {
  std::array<char, 16384> part;
  for (ssize_t n; (n = ::read(pipe_.get(), part.data(), part.size())) > 0;) {
    const size_t fits = std::min(static_cast<size_t>(n), MostHeld - std::min(held_.size(), MostHeld));
    held_.append(part.data(), fits);
    dropped_ += static_cast<size_t>(n) - fits;
  }
}

std::string Printed::take() {
  std::fflush(stdout);
  const std::lock_guard lock(mutex_);
  drain();
  std::string text = std::exchange(held_, {});
  if (dropped_ > 0) text += fmt::format("\n[gproxy: {} bytes that kernels printed were dropped]\n", dropped_);
  dropped_ = 0;
  return text;
}

}  // namespace gt::proxy
