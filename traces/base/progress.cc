// One line, redrawn a few times a second.
#include "traces/base/progress.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace gt {
namespace {

using Clock = std::chrono::steady_clock;
constexpr uint64_t LookEvery = 4096;  // calls: well under a tenth of a second
constexpr auto Redraw = std::chrono::milliseconds(100);
constexpr size_t Width = 30;

bool output_is_pipe() {
  struct stat st {};
  return ::fstat(STDOUT_FILENO, &st) == 0 && S_ISFIFO(st.st_mode);
}

}  // namespace

Progress::Progress(std::string what, uint64_t total, std::chrono::milliseconds delay)
    : what_(std::move(what)), total_(std::max<uint64_t>(total, 1)), next_look_(LookEvery) {
  wanted_ = ::isatty(STDERR_FILENO) == 1 && !output_is_pipe();
  if (!wanted_) next_look_ = UINT64_MAX;
  shown_ = Clock::now() + delay - Redraw;
}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
}

void Progress::show(std::string what, uint64_t done) {
  if (!wanted_) return;
  what_ = std::move(what);
  done_ = done;
  draw();
}

void Progress::look() {
  next_look_ = done_ + LookEvery;
  draw();
}

void Progress::draw() {
  const auto now = Clock::now();
  if (now - shown_ < Redraw) return;
  shown_ = now;
  drawn_ = true;
  const double part = std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
  std::string bar(static_cast<size_t>(part * Width), '#');
  bar.resize(Width, '.');
  std::fprintf(stderr, "\r%s [%s] %3.0f%%\x1b[K", what_.c_str(), bar.c_str(), part * 100);
  std::fflush(stderr);
}

}  // namespace gt
