// What a user event is to commands behind it: closed until the program sets a status. Who enqueues a command that
// cannot start before that knows so from its gates, and may still do what must be done before it starts.
//
// A command's gates are those of its wait list and of what is before it in its queue; those that have opened need not
// be among them. They are a guess where a driver refuses a command: what is behind that may run, and then let_go()
// corrects.
// Thread safety: any thread. Continuations run with no lock held.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "traces/base/mutex.h"

namespace gt::virt {

class Gate {
 public:
  enum class Why : uint8_t { Opens, LetGo };
  using Then = std::function<void(Why)>;

  bool is_open() const { return open_.load(std::memory_order_acquire); }
  // `then` runs once, in the thread that opens it or lets go. False: it is open.
  bool at_opening(Then then);
  void open();    // before anybody hears of the event's status
  void let_go();  // a command behind it has ended: what waits here waits for nothing

 private:
  void run(Why why);

  std::atomic<bool> open_{false};
  Mutex mutex_;
  std::vector<Then> waiting_ GT_GUARDED_BY(mutex_);
};

using Gates = std::vector<std::shared_ptr<Gate>>;
// Adds those of `more` that are closed, in their order, each once.
void add_closed(Gates& gates, const Gates& more);
void let_go(const Gates& gates);  // of those that are closed

}  // namespace gt::virt
