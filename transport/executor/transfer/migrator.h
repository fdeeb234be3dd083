// Contents go from one memory object of the client's to another, of two contexts of this process: from device to device
// where the drivers allow it, else through pinned memory (transport/moves/native_moves.h).
//
//   Move ──► what it waits for is over ──► the route's thread: NativeMoves::move() ──► its event, one of `to`'s context
//
// A route leads from one context to another. Its thread, which is there while there is something to do, makes one move
// after the other: each waits for both devices. What is small and need not wait is moved at once, in the control
// channel, which it keeps for less than a tenth of a millisecond: the one thing there that waits for a device.
// Invariant: a job's event gets a status whatever happens; releasing its name does not end it.
// Thread safety: none; the control channel uses it.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "transport/executor/base/commands.h"

namespace gt::exec {

class Route;
struct MigrationJob;

class Migrator {
 public:
  explicit Migrator(Commands& commands);
  ~Migrator();

  void run(const wire::Move& m);
  // The context is about to be released.
  void forget(cl_context context);
  // What is not over fails: nothing may wait for it any more.
  void close();

 private:
  cl_int check(const wire::Move& m, std::shared_ptr<MigrationJob>& job);
  bool are_over(const wire::Ids& waits);
  std::shared_ptr<Route> route(cl_mem from, cl_mem to);
  void start_when_over(const wire::Ids& waits, std::shared_ptr<Route> route, const std::shared_ptr<MigrationJob>& job);
  void remember(const std::shared_ptr<MigrationJob>& job);

  Commands& commands_;
  std::map<std::pair<cl_context, cl_context>, std::shared_ptr<Route>> routes_;
  std::vector<std::weak_ptr<MigrationJob>> jobs_;
  size_t most_jobs_ = 0;  // as soon as there are so many, those that are over are dropped
};

}  // namespace gt::exec
