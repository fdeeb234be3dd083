#include "transport/link/node/shm_turn.h"

namespace gt::wire {

bool ShmTurn::begin_help() {
  if (is_helper()) return true;
  if (over_ || helper_.load() != 0) return false;
  helper_.store(::pthread_self());
  show();
  return true;
}

void ShmTurn::end_help() {
  helper_.store(0);
  show();
}

void ShmTurn::wake_helper() {
  constexpr auto Helper = static_cast<uint32_t>(Who::Helper);
  bell_.rung.fetch_add(1, std::memory_order_seq_cst);  // who has looked, and does not sleep yet, will not
  if (bell_.asleep.load(std::memory_order_seq_cst) & Helper) ring_bell(bell_, Helper);
}

void ShmTurn::show() {
  const bool helped = helper_.load() != 0;
  const bool sleeps = helped ? helper_sleeps_ : thread_sleeps_;
  const Who who = helped ? Who::Helper : Who::Thread;
  bell_.asleep.store(sleeps ? static_cast<uint32_t>(who) : 0, std::memory_order_seq_cst);
}

void ShmTurn::sleep(Lock& lock, Who who, uint32_t seen, uint64_t most_ns) {
  bool& sleeps = who == Who::Helper ? helper_sleeps_ : thread_sleeps_;
  sleeps = true;
  show();
  lock.unlock();
  sleep_on(bell_, static_cast<uint32_t>(who), seen, most_ns);
  lock.lock();
  sleeps = false;
  show();
}

}  // namespace gt::wire
