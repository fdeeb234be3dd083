// One line of progress on stderr: a bar on a terminal, nothing elsewhere.
// Thread safety: none.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

namespace gt::bench {

class Progress {
 public:
  explicit Progress(bool wanted) : x_shown(wanted && ::isatty(STDERR_FILENO) == 1) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const std::string& what, double part) {
    if (!x_shown) return;
    const int filled = static_cast<int>(part * Width);
    std::string bar(static_cast<size_t>(Width), '.');
    for (int i = 0; i < filled && i < Width; ++i) bar[static_cast<size_t>(i)] = '#';
    std::fprintf(stderr, "\r\033[K[%s] %3d %%  %s", bar.c_str(), static_cast<int>(part * 100),
                 what.c_str());
    std::fflush(stderr);
  }
  void clear() {
    if (x_shown) std::fputs("\r\033[K", stderr);
  }

 private:
  static constexpr int Width = 30;
  bool x_shown;
};

}  // namespace gt::bench
