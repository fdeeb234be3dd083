#include "optimizer-rt/client/objects/gate.h"

#include <algorithm>
#include <utility>

namespace gt::virt {

bool Gate::at_opening(Then then) {
  const MutexLock lock(mutex_);
  if (is_open()) return false;
  waiting_.push_back(std::move(then));
  return true;
}

void Gate::open() {
  {
    const MutexLock lock(mutex_);
    open_.store(true, std::memory_order_release);
  }
  run(Why::Opens);
}

void Gate::let_go() { run(Why::LetGo); }

void Gate::run(Why why) {
  std::vector<Then> all;
  {
    const MutexLock lock(mutex_);
    all.swap(waiting_);
  }
  for (const Then& then : all) then(why);
}

void add_closed(Gates& gates, const Gates& more) {
  for (const std::shared_ptr<Gate>& gate : more)
    if (!gate->is_open() && std::find(gates.begin(), gates.end(), gate) == gates.end()) gates.push_back(gate);
}

void let_go(const Gates& gates) {
  for (const std::shared_ptr<Gate>& gate : gates)
    if (!gate->is_open()) gate->let_go();
}

}  // namespace gt::virt
