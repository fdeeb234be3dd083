#include "transport/gproxy/printed.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <thread>
#include <utility>

namespace gt::proxy {

Result<Printed*> Printed::capture() {
  Fd file(::memfd_create("gproxy printed", MFD_CLOEXEC)), changes(::inotify_init1(IN_CLOEXEC));
  if (!file.open() || !changes.open()) return system_error("standard output", errno);
  ::fcntl(file.get(), F_SETFL, O_APPEND);
  if (::inotify_add_watch(changes.get(), fmt::format("/proc/self/fd/{}", file.get()).c_str(), IN_MODIFY) < 0)
    return system_error("standard output", errno);
  if (::dup2(file.get(), STDOUT_FILENO) < 0) return system_error("standard output", errno);
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  auto* const printed = new Printed(std::move(file), std::move(changes));
  std::thread([printed] { printed->keep_empty(); }).detach();
  return printed;
}

void Printed::keep_empty() {
  alignas(inotify_event) std::array<char, 4096> news;
  while (::read(changes_.get(), news.data(), news.size()) > 0 || errno == EINTR) {
    const MutexLock lock(mutex_);
    drain();
  }
}

void Printed::drain() {
  constexpr off_t Page = 4096;
  const off_t before = read_;
  std::array<char, 16384> part;
  for (ssize_t n; (n = ::pread(file_.get(), part.data(), part.size(), read_)) > 0; read_ += n) {
    const size_t fits = std::min(static_cast<size_t>(n), MostHeld - std::min(held_.size(), MostHeld));
    held_.append(part.data(), fits);
    dropped_ += static_cast<size_t>(n) - fits;
  }
  const off_t from = before / Page * Page, to = read_ / Page * Page;
  if (to > from) ::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, to - from);
}

std::string Printed::take() {
  std::fflush(stdout);
  const MutexLock lock(mutex_);
  drain();
  std::string text = std::exchange(held_, {});
  if (dropped_ > 0) text += fmt::format("\n[gproxy: {} bytes that kernels printed were dropped]\n", dropped_);
  dropped_ = 0;
  return text;
}

}  // namespace gt::proxy
