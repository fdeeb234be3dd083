#include "optimizer-rt/pool/huge_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "optimizer-rt/pool/entered.h"
#include "optimizer-rt/pool/keeps_errno.h"
#include "optimizer-rt/pool/residency.h"
#include "optimizer-rt/pool/system_memory.h"

namespace gt::opt {

constinit HugePages huge_pages;
bool (*watch_hook)() noexcept = nullptr;

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

bool is_fresh(const Range& r) { return r.bytes() > 0 && seems_fresh(reinterpret_cast<void*>(r.begin), r.bytes()); }

// The thread is in here: only a signal handler on it can come again.
__thread bool t_inside __attribute__((tls_model("initial-exec"))) = false;

}  // namespace

// What a call could not do that came in between is missed: then everything is forgotten.
class HugePages::Guard : public Entered {
 public:
  explicit Guard(HugePages& pages) noexcept : Entered(pages.mutex_, t_inside) {
    if (!holds()) {
      pages.missed_.store(true, std::memory_order_relaxed);
    } else if (__builtin_expect(pages.missed_.exchange(false, std::memory_order_relaxed), 0)) {
      pages.mutex_.assert_held();
      pages.forget_all();
    }
  }
};

void HugePages::open(size_t budget, const Counts& counts, bool keeps) noexcept GT_NO_THREAD_SAFETY_ANALYSIS {
  counts_ = counts;
  keeps_ = keeps;
  budget_ = budget & ~Mask;
  range_.store(SIZE_MAX / 2, std::memory_order_relaxed);
}

void HugePages::close() noexcept {
  range_.store(0, std::memory_order_relaxed);
  looked_after(nullptr, UINTPTR_MAX);
}

bool HugePages::advise(uintptr_t at, size_t bytes) noexcept {
  if (system_memory.advise(reinterpret_cast<void*>(at), bytes, MADV_HUGEPAGE) != 0) return false;
  add(*counts_.bytes, bytes);
  return true;
}

bool HugePages::made(const void* block, size_t bytes) noexcept {
  const KeepsErrno keeps;
  const Range whole = inside(block, bytes);
  if (!is_fresh(whole)) return false;
  const Guard guard(*this);
  if (!guard.holds()) return false;
  mutex_.assert_held();
  Block* const place = place_of(block);
  if (!place) return false;
  *place = {block, bytes};
  place->end = whole.end;
  begin_watching(*place, whole.begin);
  set_filter();
  return true;
}

void HugePages::remember(const void* block, size_t bytes) noexcept {
  const Guard guard(*this);
  if (!guard.holds()) return;
  mutex_.assert_held();
  Block* const place = place_of(block);
  if (!place) return;
  *place = {block, bytes};
  place->end = inside(block, bytes).end;
  set_filter();
}

HugePages::Block* HugePages::place_of(const void* block) noexcept {
  Block* place = std::ranges::find(known_, block, &Block::base);  // that it was given back was missed
  if (place != std::end(known_)) return drop(*place, Pages::Others), place;
  place = std::ranges::find(known_, nullptr, &Block::base);
  return place == std::end(known_) ? nullptr : place;
}

size_t HugePages::bytes_of(const void* block) noexcept {
  const Guard guard(*this);
  if (!guard.holds()) return 0;
  mutex_.assert_held();
  const Block* const place = std::ranges::find(known_, block, &Block::base);
  return place == std::end(known_) ? 0 : place->bytes;
}

bool HugePages::lend(size_t bytes) noexcept {
  const Guard guard(*this);
  if (!guard.holds()) return false;
  mutex_.assert_held();
  const size_t whole = bytes & ~Mask;
  if (budget_ < whole) return false;
  budget_ -= whole;
  return true;
}

void HugePages::repay(size_t bytes) noexcept {
  const Guard guard(*this);
  if (!guard.holds()) return;
  mutex_.assert_held();
  budget_ += bytes & ~Mask;
}

bool HugePages::lend_at(uintptr_t at, size_t bytes) noexcept {
  const Guard guard(*this);
  if (!guard.holds()) return false;
  mutex_.assert_held();
  if (!is_open() || budget_ < bytes || !advise(at, bytes)) return false;
  budget_ -= bytes;
  return true;
}

void HugePages::vouched(size_t bytes) noexcept {
  repay(bytes);
  add(*counts_.filled, bytes);
}

bool HugePages::is_short() noexcept {
  const Guard guard(*this);
  if (!guard.holds()) return false;
  mutex_.assert_held();
  return budget_ < LargestStep;
}

void HugePages::begin_watching(Block& b, uintptr_t begin) noexcept {
  b.probe = begin;
  b.ahead = begin + HugeBytes;
  b.step = std::clamp((b.end - begin) / 4 & ~Mask, FirstStep, LargestStep);
  add(*counts_.blocks, 1);
  take_step(b);
}

void HugePages::take_step(Block& b) noexcept {
  const size_t bytes = std::min({b.step, b.end - b.ahead, budget_});
  if (bytes == 0 || !advise(b.ahead, bytes)) return;
  b.ahead += bytes;
  budget_ -= bytes;
}

void HugePages::filled(const void* at, size_t bytes) noexcept {
  if (bytes < LeastFilled || filter_.load(std::memory_order_relaxed) == 0) return;
  const KeepsErrno keeps;
  const Range whole = inside(at, bytes);
  if (!is_fresh(whole)) return;
  const Guard guard(*this);
  if (!guard.holds()) return;
  mutex_.assert_held();
  const auto begin = reinterpret_cast<uintptr_t>(at);
  const bool known = std::ranges::any_of(known_, [=](const Block& b) {
    const auto base = reinterpret_cast<uintptr_t>(b.base);
    return b.base && base <= begin && begin - base <= b.bytes && bytes <= b.bytes - (begin - base);
  });
  if (!known || !advise(whole.begin, whole.bytes())) return;
  add(*counts_.blocks, 1);
  add(*counts_.filled, whole.bytes());
}

HugePages::Seen HugePages::look() noexcept {
  const Guard guard(*this);
  if (!guard.holds()) return Seen::NoChange;
  mutex_.assert_held();
  Seen seen = Seen::Nothing;
  for (Block& b : known_) {
    if (b.probe == 0) continue;
    if (vouch(b)) {
      seen = Seen::Progress;
    } else if (seen == Seen::Nothing) {
      seen = Seen::NoChange;
    }
  }
  return seen;
}

// True: the probe was touched, so its step will be, and the one before it has been. The next one is taken behind it.
bool HugePages::vouch(Block& b) noexcept {
  constexpr size_t Twentieth = 20;
  if (!is_resident(reinterpret_cast<void*>(b.probe), HugeBytes, Twentieth)) {
    if (b.unvouched() == 0) take_step(b);  // there was nothing left for it
    return false;
  }
  count_filled(b);
  b.filling = b.unvouched();
  b.probe = b.ahead;
  b.ahead += HugeBytes;
  b.step = std::min(2 * b.step, LargestStep);
  if (b.ahead < b.end)
    take_step(b);
  else
    end_watching(b);
  return true;
}

void HugePages::count_filled(Block& b) noexcept {
  budget_ += b.filling;
  add(*counts_.filled, b.filling);
  b.filling = 0;
}

void HugePages::end_watching(Block& b) noexcept {
  count_filled(b);
  b.probe = b.ahead = 0;
}

void HugePages::drop(Block& b, Pages pages) noexcept {
  const Range whole = inside(b.base, b.bytes);
  if (pages == Pages::Stay && !keeps_)
    system_memory.advise(reinterpret_cast<void*>(whole.begin), whole.bytes(), MADV_NOHUGEPAGE);
  budget_ += b.unvouched();
  end_watching(b);
  b = {};
}

void HugePages::gone(const void* block) noexcept {
  const KeepsErrno keeps;
  const Guard guard(*this);
  if (!guard.holds()) return;
  mutex_.assert_held();
  Block* const place = std::ranges::find(known_, block, &Block::base);
  if (place != std::end(known_)) drop(*place, Pages::Stay);
  set_filter();
}

void HugePages::drop_overlapping(const void* at, size_t bytes, Pages pages) noexcept {
  const KeepsErrno keeps;
  const Guard guard(*this);
  if (!guard.holds()) return;
  mutex_.assert_held();
  const auto begin = reinterpret_cast<uintptr_t>(at);
  for (Block& b : known_) {
    if (b.base && begin < b.end && reinterpret_cast<uintptr_t>(b.base) < begin + bytes) drop(b, pages);
  }
  set_filter();
}

void HugePages::give_up() noexcept {
  const Guard guard(*this);
  if (!guard.holds()) return;
  mutex_.assert_held();
  for (Block& b : known_) b.probe = b.ahead = b.filling = 0;
}

void HugePages::set_filter() noexcept {
  uint64_t filter = 0;
  for (const Block& b : known_) {
    if (b.base) filter |= bit_of(b.base);
  }
  filter_.store(filter, std::memory_order_relaxed);
}

// Some call was missed. What was advised and not vouched for counts against the budget for ever.
void HugePages::forget_all() noexcept {
  for (Block& b : known_) b = {};
  filter_.store(0, std::memory_order_relaxed);
}

// Nobody else is there. Whoever held the lock is not.
void HugePages::forget_in_child() noexcept GT_NO_THREAD_SAFETY_ANALYSIS {
  new (&mutex_) Mutex;
  t_inside = false;
  forget_all();
}

}  // namespace gt::opt
