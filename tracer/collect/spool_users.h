// The processes that can still record into a spool.
//
// A ring does not tell: a child that was just forked has none yet. A process can record when it has the spool mapped,
// or is on its way from exec to that moment with the spool's name in its environment; /proc says both. (gtrace itself
// maps spools, too, and records nothing.) Reading it for every process is slow, so it is done only when all those known
// have ended.
// Thread safety: none.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace gt::tracer {

struct ProcessId {
  int pid = 0;
  uint64_t start_time = 0;  // process_state.h
};

bool uses_spool(int pid, const std::string& spool_path);

class SpoolUsers {
 public:
  // Processes older than `since`, a start time, are not looked at.
  SpoolUsers(std::string spool_path, uint64_t since);

  // Is there any? Cheap enough to be asked in a loop: looks at most every LookEvery. Zombies do not count.
  bool any();
  const std::vector<ProcessId>& known() const { return known_; }  // as of the last look

 private:
  std::vector<ProcessId> search() const;

  static constexpr std::chrono::milliseconds LookEvery{10};
  std::string path_;
  uint64_t since_;
  std::vector<ProcessId> known_;
  std::chrono::steady_clock::time_point looked_{};
};

}  // namespace gt::tracer
