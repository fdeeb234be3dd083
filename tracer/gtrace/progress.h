// A progress bar on standard error, for work that takes long; nothing where standard error is no terminal, or
// standard output a pipe.
// Thread safety: none.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace gt::tracer {

class Progress {
 public:
  Progress(std::string what, uint64_t total);
  ~Progress();  // wipes the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Cost: an addition and a test, mostly.
  void add(uint64_t n = 1) {
    done_ += n;
    if (done_ >= next_look_) look();
  }

 private:
  void look();

  std::string what_;
  uint64_t total_, done_ = 0, next_look_;
  std::chrono::steady_clock::time_point shown_;
  bool drawn_ = false;
};

}  // namespace gt::tracer
