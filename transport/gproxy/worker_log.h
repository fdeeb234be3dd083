// What a worker and its drivers write to standard error, in the supervisor's log: whole lines with the worker's name in
// front, and no more of them than a person can read.
// Thread safety: none.
#pragma once

#include <string>

#include "transport/gproxy/allowance.h"

namespace gt::proxy {

class WorkerLog {
 public:
  // Reads what is in the pipe now. False at its end.
  bool drain(int pipe, const std::string& name);
  // What is left: half a line, and how many were dropped.
  void finish(const std::string& name);

 private:
  void add(const char* bytes, size_t n, const std::string& name);
  void say(const std::string& line, const std::string& name);
  void say_left_out(const std::string& name);

  std::string line_;
  Allowance allowance_;
};

}  // namespace gt::proxy
