#include "microbench/links/answers.h"

#include <cstring>

namespace gt::bench {
namespace {

constexpr std::chrono::milliseconds Timeout{30'000};

}  // namespace

void Answers::on_frame(ByteView frame) {
  const MutexLock lock(mutex_);
  last_.assign(frame.begin(), frame.end());
  ++count_;
  changed_.notify_all();
}

void Answers::on_closed(const Status& why) {
  const MutexLock lock(mutex_);
  closed_ = why;
  changed_.notify_all();
}

Status Answers::wait(uint64_t count, wire::Link& link) {
  link.help([&] { return count_.load() >= count; });
  UniqueLock lock(mutex_);
  const auto there = [&]() GT_REQUIRES(mutex_) { return count_ >= count || !closed_.ok(); };
  if (!changed_.wait_for(lock, Timeout, there)) return {Kind::Disconnected, "the other side does not answer"};
  return count_ >= count ? Status() : closed_;
}

Result<EchoGreeting> Answers::greeting(wire::Link& link) {
  GT_TRY(wait(1, link));
  EchoGreeting greeting, told;
  const MutexLock lock(mutex_);
  if (last_.size() == sizeof told) std::memcpy(&told, last_.data(), sizeof told);
  if (last_.size() != sizeof told || told.magic != greeting.magic)
    return Status(Kind::Corrupt, "no gmicrobench link --serve is there");
  return told;
}

}  // namespace gt::bench
