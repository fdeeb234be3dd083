#include "optimizer-rt/pool/heap_room.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "optimizer-rt/pool/entered.h"
#include "optimizer-rt/pool/keeps_errno.h"
#include "optimizer-rt/pool/residency.h"
#include "optimizer-rt/pool/system_memory.h"

namespace gt::opt {

constinit HeapRoom heap_room;

namespace {

constexpr uintptr_t Mask = HugePages::HugeBytes - 1, PageMask = 4095;
constexpr uintptr_t aligned(uintptr_t at) { return (at + Mask) & ~Mask; }

void* const Failed = reinterpret_cast<void*>(-1);
uintptr_t number(const void* p) { return reinterpret_cast<uintptr_t>(p); }

// What is mapped and not touched counts there.
bool is_limited(int which) {
  rlimit limit{};
  return ::getrlimit(static_cast<__rlimit_resource_t>(which), &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

// The thread is in here: libc's sbrk calls its brk, and a signal handler may call either.
__thread bool t_inside __attribute__((tls_model("initial-exec"))) = false;

}  // namespace

void HeapRoom::open(const Break& system, HugePages* pages) noexcept GT_NO_THREAD_SAFETY_ANALYSIS {
  system_ = system;
  const uintptr_t now = number(system_.move(0));
  if (now == number(Failed)) return;
  begin_ = aligned(now);
  end_ = mapped_ = now;
  step_ = FirstStep;
  gives_room_ = true;
  pages_ = pages;
}

void HeapRoom::adopt(uintptr_t end) noexcept {
  pages_->repay(lent_);
  lent_ = 0;
  probe_ = 0;
  end_ = mapped_ = end;
}

void* HeapRoom::move(intptr_t by, bool allocator) noexcept {
  const Entered guard(mutex_, t_inside);
  if (!pages_ || !guard.holds()) return system_.move(by);
  mutex_.assert_held();
  const uintptr_t now = number(system_.move(0));
  if (now != mapped_) adopt(now);
  if (by < 0) return shrink(-static_cast<size_t>(by));
  const auto need = static_cast<size_t>(by);
  if (need > room() && !grow(need, allocator)) return Failed;
  const uintptr_t before = end_;
  end_ += need;
  return reinterpret_cast<void*>(before);
}

bool HeapRoom::grow(size_t need, bool allocator) noexcept {
  const size_t more = need - room();
  if (more > PTRDIFF_MAX) return errno = ENOMEM, false;
  {
    const KeepsErrno keeps;
    if (allocator && gives_room_ && !is_limited(RLIMIT_DATA) && !is_limited(RLIMIT_AS) && grow_with_room(more))
      return true;
  }
  if (system_.move(static_cast<intptr_t>(more)) == Failed) return false;
  mapped_ += more;
  return true;
}

bool HeapRoom::grow_with_room(size_t more) noexcept {
  judge_probe();
  const uintptr_t probe = aligned(mapped_), step = probe + HugePages::HugeBytes;
  const uintptr_t end = std::max(mapped_ + more, step + step_);
  if (end < mapped_ || system_.move(static_cast<intptr_t>(end - mapped_)) == Failed) return false;
  mapped_ = end;
  probe_ = probe;
  if (step_ == 0 || !pages_->lend_at(step, step_)) return true;
  lent_ = step_;
  advised_.store(true, std::memory_order_relaxed);
  return true;
}

// It was handed out long ago, but for its end if no step lies behind it. What it does not vouch for stays lent for
// ever.
void HeapRoom::judge_probe() noexcept {
  constexpr size_t Twentieth = 20;
  if (probe_ == 0) return;
  const size_t out = std::min(end_ - std::min(end_, probe_), HugePages::HugeBytes) & ~PageMask;
  if (out >= HugePages::HugeBytes / 4 && is_resident(reinterpret_cast<void*>(probe_), out, Twentieth)) {
    pages_->vouched(lent_);
    step_ = std::clamp(2 * step_, FirstStep, LargestStep);
  } else {
    step_ = 0;  // only a probe; if that one is filled, the first step again
  }
  lent_ = 0;
  probe_ = 0;
}

void* HeapRoom::shrink(size_t bytes) noexcept {
  const uintptr_t before = end_;
  const size_t real = bytes + room();
  if (real < bytes || real > PTRDIFF_MAX || bytes > before) return system_.move(PTRDIFF_MIN + 1);
  if (system_.move(-static_cast<intptr_t>(real)) == Failed) return Failed;
  adopt(before - bytes);
  return reinterpret_cast<void*>(before);
}

int HeapRoom::set(void* to) noexcept {
  const Entered guard(mutex_, t_inside);
  if (!pages_ || !guard.holds()) return system_.set(to);
  mutex_.assert_held();
  const int result = system_.set(to);
  adopt(number(system_.move(0)));
  return result;
}

void HeapRoom::withdraw(uintptr_t at, size_t bytes, bool for_ever) noexcept {
  const KeepsErrno keeps;
  const Entered guard(mutex_, t_inside);
  if (!pages_ || !guard.holds()) return;
  mutex_.assert_held();
  if (for_ever) gives_room_ = false;
  if (!advised_.load(std::memory_order_relaxed)) return;
  const uintptr_t begin = std::max(at, begin_) & ~Mask, end = std::min(at + std::min(bytes, UINTPTR_MAX - at), mapped_);
  if (begin >= end) return;
  system_memory.advise(reinterpret_cast<void*>(begin), (end - begin + PageMask) & ~PageMask, MADV_NOHUGEPAGE);
}

// Nobody else is there. Whoever held the lock is not.
void HeapRoom::forget_in_child() noexcept GT_NO_THREAD_SAFETY_ANALYSIS {
  new (&mutex_) Mutex;
  t_inside = false;
}

}  // namespace gt::opt
