// A progress bar on standard error, for work that takes long; nothing where standard error is no terminal, or
// standard output a pipe (who reads from it may draw on the same terminal).
// Thread safety: none.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace gt {

class Progress {
 public:
  // Nothing is drawn before `delay` is over: most work is done by then.
  Progress(std::string what, uint64_t total, std::chrono::milliseconds delay = std::chrono::milliseconds(500));
  ~Progress();  // wipes the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Cost: an addition and a test, mostly.
  void add(uint64_t n = 1) {
    done_ += n;
    if (done_ >= next_look_) look();
  }
  // For work that comes in steps: what is done now, and how much of the total is behind.
  void show(std::string what, uint64_t done);

 private:
  void look();
  void draw();

  std::string what_;
  uint64_t total_, done_ = 0, next_look_;
  std::chrono::steady_clock::time_point shown_;
  bool wanted_ = false, drawn_ = false;
};

}  // namespace gt
