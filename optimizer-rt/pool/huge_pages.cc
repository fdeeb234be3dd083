#include "optimizer-rt/pool/huge_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <new>

#include "optimizer-rt/pool/residency.h"
#include "optimizer-rt/pool/system_memory.h"

namespace gt::opt {

constinit HugePages huge_pages;
void (*watch_hook)() noexcept = nullptr;

namespace {

constexpr uintptr_t Mask = HugePages::HugeBytes - 1;
constexpr size_t FirstStep = size_t{8} << 20, LargestStep = HugePages::Budget / 2;

struct Range {
  uintptr_t begin = 0, end = 0;
  size_t bytes() const { return end > begin ? end - begin : 0; }
};

// The huge pages that lie inside.
Range inside(const void* at, size_t bytes) {
  const auto p = reinterpret_cast<uintptr_t>(at);
  return {(p + Mask) & ~Mask, (p + bytes) & ~Mask};
}

class KeepsErrno {
 public:
  KeepsErrno() : errno_(errno) {}
  ~KeepsErrno() { errno = errno_; }
  KeepsErrno(const KeepsErrno&) = delete;
  KeepsErrno& operator=(const KeepsErrno&) = delete;

 private:
  const int errno_;
};

}  // namespace

void HugePages::open(size_t budget, Counter* blocks, Counter* bytes) noexcept GT_NO_THREAD_SAFETY_ANALYSIS {
  blocks_ = blocks;
  bytes_ = bytes;
  budget_ = budget & ~Mask;
  range_.store(SIZE_MAX / 2, std::memory_order_relaxed);
}

bool HugePages::advise(uintptr_t at, size_t bytes) noexcept {
  if (system_memory.advise(reinterpret_cast<void*>(at), bytes, MADV_HUGEPAGE) != 0) return false;
  add(*bytes_, bytes);
  return true;
}

bool HugePages::made(const void* block, size_t bytes) noexcept {
  const KeepsErrno keeps;
  const Range whole = inside(block, bytes);
  if (whole.bytes() < LeastBytes / 2 || !seems_fresh(reinterpret_cast<void*>(whole.begin), whole.bytes())) return false;
  const std::unique_lock<Mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  mutex_.assert_held();
  const auto place = std::ranges::find(watched_, nullptr, &Watched::block);
  if (place == std::end(watched_)) return false;
  *place = {block, whole.begin, whole.begin + HugeBytes, whole.end, 0,
            std::clamp(whole.bytes() / 4 & ~Mask, FirstStep, LargestStep)};
  add(*blocks_, 1);
  take_step(*place);
  set_filter();
  return true;
}

void HugePages::take_step(Watched& w) noexcept {
  const size_t bytes = std::min({w.step, w.end - w.ahead, budget_});
  if (bytes == 0 || !advise(w.ahead, bytes)) return;
  w.ahead += bytes;
  budget_ -= bytes;
}

void HugePages::filled(const void* at, size_t bytes) noexcept {
  if (bytes < LeastFilled || !is_open()) return;
  const KeepsErrno keeps;
  const Range whole = inside(at, bytes);
  if (whole.bytes() == 0 || !seems_fresh(reinterpret_cast<void*>(whole.begin), whole.bytes())) return;
  if (advise(whole.begin, whole.bytes())) add(*blocks_, 1);
}

HugePages::Seen HugePages::look() noexcept {
  const std::unique_lock<Mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return Seen::NoChange;
  mutex_.assert_held();
  Seen seen = Seen::Nothing;
  for (Watched& w : watched_) {
    if (!w.block) continue;
    if (vouch(w)) {
      seen = Seen::Progress;
    } else if (seen == Seen::Nothing) {
      seen = Seen::NoChange;
    }
  }
  set_filter();
  return seen;
}

// True: the probe was touched, so its step will be, and the one before it has been. The next one is taken behind it.
bool HugePages::vouch(Watched& w) noexcept {
  constexpr size_t Enough = HugeBytes / 20 * 19;
  if (resident_bytes(reinterpret_cast<void*>(w.probe), HugeBytes) < Enough) {
    if (w.unvouched() == 0) take_step(w);  // there was nothing left for it
    return false;
  }
  budget_ += w.filling;
  w.filling = w.unvouched();
  w.probe = w.ahead;
  w.ahead += HugeBytes;
  w.step = std::min(2 * w.step, LargestStep);
  if (w.ahead < w.end)
    take_step(w);
  else
    end(w);
  return true;
}

void HugePages::end(Watched& w) noexcept {
  budget_ += w.filling;
  w = {};
}

void HugePages::drop(Watched& w) noexcept {
  budget_ += w.unvouched();
  end(w);
}

void HugePages::gone(const void* block) noexcept {
  const std::unique_lock<Mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  mutex_.assert_held();
  const auto place = std::ranges::find(watched_, block, &Watched::block);
  if (place != std::end(watched_)) drop(*place);
  set_filter();
}

void HugePages::drop_overlapping(const void* at, size_t bytes) noexcept {
  const std::unique_lock<Mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  mutex_.assert_held();
  const auto begin = reinterpret_cast<uintptr_t>(at);
  for (Watched& w : watched_) {
    if (w.block && begin < w.end && w.probe < begin + bytes) drop(w);
  }
  set_filter();
}

void HugePages::give_up() noexcept {
  const std::unique_lock<Mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  mutex_.assert_held();
  for (Watched& w : watched_) w = {};
  set_filter();
}

void HugePages::set_filter() noexcept {
  uint64_t filter = 0;
  for (const Watched& w : watched_) {
    if (w.block) filter |= bit_of(w.block);
  }
  filter_.store(filter, std::memory_order_relaxed);
}

// Nobody else is there. Whoever held the lock is not.
void HugePages::forget_in_child() noexcept GT_NO_THREAD_SAFETY_ANALYSIS {
  new (&mutex_) Mutex;
  for (Watched& w : watched_) w = {};
  filter_.store(0, std::memory_order_relaxed);
}

}  // namespace gt::opt
