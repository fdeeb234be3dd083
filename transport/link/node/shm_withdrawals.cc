#include "transport/link/node/shm_withdrawals.h"

namespace gt::wire {
Status ShmWithdrawals::add(SegmentId segment) {
  {
    const MutexLock lock(mutex_);
    waiting_.push_back(segment);
    changed_.notify_all();
  }
  if (runs_) return {};
  runs_ = true;
  return thread_.start("gtrace-withdraw", [this] { run(); });
}

void ShmWithdrawals::start(LinkHandler& handler) {
  const MutexLock lock(telling_);
  handler_ = &handler;
}

void ShmWithdrawals::stop() {
  const MutexLock lock(telling_);
  handler_ = nullptr;
}

void ShmWithdrawals::wake() {
  const MutexLock lock(mutex_);
  changed_.notify_all();
}

void ShmWithdrawals::run() {
  UniqueLock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this]() GT_REQUIRES(mutex_) { return life_.is_ended() || !waiting_.empty(); });
    if (life_.is_ended()) return;
    Word answer;
    answer.kind = Word::Kind::Withdrawn;
    answer.segment = waiting_.front();
    answer.ok = 1;
    waiting_.pop_front();
    lock.unlock();
    withdraw(answer.segment);
    if (const Status sent = answer_(answer); !sent.ok()) return life_.end(sent);
    lock.lock();
  }
}

void ShmWithdrawals::withdraw(SegmentId segment) {
  {
    const MutexLock lock(telling_);
    if (handler_ && peer_.view({segment, 0}, 0)) handler_->on_withdrawn(segment);
  }
  peer_.withdraw(segment);
}

}  // namespace gt::wire
