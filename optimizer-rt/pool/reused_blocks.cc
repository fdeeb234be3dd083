#include "optimizer-rt/pool/reused_blocks.h"

#include <algorithm>
#include <bit>

namespace gt::opt {

constinit ReusedBlocks reused_blocks;
constinit std::atomic<bool> unpins_at_release{false};

namespace {

uintptr_t address(const void* p) { return reinterpret_cast<uintptr_t>(p); }
size_t size_class(size_t bytes) { return static_cast<size_t>(std::bit_width(bytes)) % 64; }

// The thread is inside the table: a signal handler that comes here must not wait for its own thread.
__thread bool t_inside __attribute__((tls_model("initial-exec"))) = false;

}  // namespace

// --- Entering ---

// In a signal handler inside the table there is nothing to take; the analysis is told that it is taken.
class GT_SCOPED_CAPABILITY ReusedBlocks::Guard {
 public:
  explicit Guard(ReusedBlocks& table) noexcept GT_ACQUIRE(table.mutex_) GT_NO_THREAD_SAFETY_ANALYSIS
      : table_(t_inside ? nullptr : &table) {
    if (table_) table_->enter();
  }
  ~Guard() GT_RELEASE() GT_NO_THREAD_SAFETY_ANALYSIS {
    if (table_) table_->leave();
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  bool held() const noexcept { return table_ != nullptr; }

 private:
  ReusedBlocks* table_;
};

void ReusedBlocks::enter() noexcept {
  t_inside = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  mutex_.lock();
  take_missed();
}

void ReusedBlocks::leave() noexcept {
  take_missed();
  mutex_.unlock();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  t_inside = false;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (!missed_.load(std::memory_order_relaxed)) return;
  enter();
  leave();
}

// Until it is taken, calls of the program's wait.
void ReusedBlocks::missed() noexcept {
  unsettled_.fetch_add(1, std::memory_order_release);
  if (missed_.exchange(true)) unsettled_.fetch_sub(1, std::memory_order_release);
}

void ReusedBlocks::take_missed() noexcept {
  if (__builtin_expect(!missed_.load(std::memory_order_relaxed), 1) || !missed_.exchange(false)) return;
  drop_overlapping_locked(0, UINTPTR_MAX);
  unsettled_.fetch_sub(1, std::memory_order_release);
}

// --- Which blocks there are ---

// `visit` may drop the entry.
template <class Visit>
void ReusedBlocks::for_each_entry(Visit visit) const noexcept {
  for (size_t word = 0; word < Most / 64; ++word)
    for (uint64_t bits = used_[word]; bits != 0; bits &= bits - 1)
      visit(word * 64 + static_cast<size_t>(std::countr_zero(bits)));
}

void ReusedBlocks::remember(const void* p, size_t bytes) noexcept {
  const uintptr_t key = address(p);
  if (!p || bytes > UINTPTR_MAX - key) return;
  const Guard guard(*this);
  if (!guard.held() || !is_open()) return;
  drop_overlapping_locked(key, bytes);
  insert(key, bytes, false);
}

void ReusedBlocks::remember_static(const void* p, size_t bytes) noexcept {
  const Guard guard(*this);
  uintptr_t begin = address(p), end = begin + bytes;
  if (!guard.held() || !is_open() || find(begin, bytes) != Most) return;
  for_each_entry([&](size_t i) GT_REQUIRES(mutex_) {
    const uintptr_t key = keys_[i].load(std::memory_order_relaxed);
    const Entry& e = entries_[i];
    if (e.state != State::Fresh || key >= end || begin >= key + e.bytes) return;
    begin = std::min(begin, key);
    end = std::max(end, key + e.bytes);
    drop_entry(i);
  });
  insert(begin, end - begin, true);
}

void ReusedBlocks::insert(uintptr_t key, size_t bytes, bool is_static) noexcept {
  const size_t first = first_of(key);
  for (size_t i = first; i < first + Ways; ++i) {
    if (keys_[i].load(std::memory_order_relaxed) != 0) continue;
    entries_[i] = {};
    entries_[i].bytes = bytes;
    entries_[i].birth = ++births_;
    entries_[i].is_static = is_static;
    keys_[i].store(key, std::memory_order_relaxed);
    used_[i / 64] |= uint64_t{1} << i % 64;
    begins_[granule_of(key)].fetch_add(1, std::memory_order_relaxed);
    count_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
}

bool ReusedBlocks::drop(const void* p) noexcept {
  const Guard guard(*this);
  if (!guard.held()) return missed(), false;
  const uintptr_t key = address(p);
  for (size_t i = first_of(key); i < first_of(key) + Ways; ++i) {
    if (keys_[i].load(std::memory_order_relaxed) != key) continue;
    const bool was_pinned = entries_[i].state == State::Pinned || entries_[i].state == State::Pinning;
    judge(entries_[i]);
    drop_entry(i);
    return was_pinned;
  }
  return false;
}

void ReusedBlocks::drop_overlapping(const void* at, size_t bytes) noexcept {
  const Guard guard(*this);
  if (!guard.held()) return missed();
  drop_overlapping_locked(address(at), std::min(bytes, UINTPTR_MAX - address(at)));
}

void ReusedBlocks::drop_overlapping_locked(uintptr_t at, size_t bytes) noexcept {
  for_each_entry([&](size_t i) GT_REQUIRES(mutex_) {
    const uintptr_t key = keys_[i].load(std::memory_order_relaxed);
    if (key < at + bytes && at < key + entries_[i].bytes) drop_entry(i);
  });
}

void ReusedBlocks::drop_entry(size_t i) noexcept {
  Entry& e = entries_[i];
  if (e.state == State::Pinned) unpin_entry(e);
  if (e.state == State::Pinning) unsettled_.fetch_add(1, std::memory_order_release);  // its maker will find out
  e = {};
  begins_[granule_of(keys_[i].load(std::memory_order_relaxed))].fetch_sub(1, std::memory_order_relaxed);
  keys_[i].store(0, std::memory_order_relaxed);
  used_[i / 64] &= ~(uint64_t{1} << i % 64);
  count_.fetch_sub(1, std::memory_order_relaxed);
}

bool ReusedBlocks::close() noexcept {
  const Guard guard(*this);
  const bool was_open = range_.exchange(0, std::memory_order_relaxed) != 0;
  if (!guard.held()) return missed(), was_open;
  drop_overlapping_locked(0, UINTPTR_MAX);
  return was_open;
}

void ReusedBlocks::forget_in_child() noexcept {
  range_.store(0, std::memory_order_relaxed);
  for (auto& key : keys_) key.store(0, std::memory_order_relaxed);
  for (auto& blocks : begins_) blocks.store(0, std::memory_order_relaxed);
  for (uint64_t& bits : used_) bits = 0;
  count_.store(0, std::memory_order_relaxed);
  unsettled_.store(0, std::memory_order_relaxed);
  missed_.store(false, std::memory_order_relaxed);
  pins_ = stale_count_ = 0;
  unlock_after_fork();
}

// --- Transfers ---

size_t ReusedBlocks::find(uintptr_t p, size_t span) const noexcept {
  const auto holds = [&](size_t i) GT_REQUIRES(mutex_) {
    const uintptr_t key = keys_[i].load(std::memory_order_relaxed);
    return key != 0 && p >= key && p - key < entries_[i].bytes && span <= entries_[i].bytes - (p - key);
  };
  // Blocks of static data may overlap: a pinned one is the one that counts.
  const auto is_final = [&](size_t i) GT_REQUIRES(mutex_) {
    return !entries_[i].is_static || entries_[i].state == State::Pinned;
  };
  for (size_t i = first_of(p); i < first_of(p) + Ways; ++i)
    if (holds(i) && is_final(i)) return i;
  size_t found = Most;
  for_each_entry([&](size_t i) GT_REQUIRES(mutex_) {
    if (holds(i) && (found == Most || is_final(i))) found = i;
  });
  return found;
}

double ReusedBlocks::price(const Entry& e, const Terms& terms) const noexcept {
  return terms.pin && terms.pin->known() ? (*terms.pin)(e.bytes) : 0;
}

bool ReusedBlocks::pays(Entry& e, const Terms& terms) noexcept {
  e.owed_ns += terms.saving_ns;
  ++e.transfers;
  if (terms.always) return e.transfers > 1;
  if (terms.saving_ns <= 0 || price(e, terms) <= 0) return false;
  return e.owed_ns >= price(e, terms) * static_cast<double>(1u << bar_[size_class(e.bytes)]);
}

ReusedBlocks::Next ReusedBlocks::touch(const void* p, size_t span, const Terms& terms, Block* block) noexcept {
  if (count_.load(std::memory_order_relaxed) == 0) return Next::Unknown;
  const Guard guard(*this);
  const size_t i = guard.held() ? find(address(p), span) : Most;
  if (i == Most) return Next::Unknown;
  Entry& e = entries_[i];
  *block = {keys_[i].load(std::memory_order_relaxed), e.bytes, e.pin, e.birth};
  if (e.state == State::Pinned) {
    e.owed_ns += terms.saving_ns;
    return Next::Pinned;
  }
  if (e.state != State::Fresh || !pays(e, terms) || pins_ == Most) return Next::Leave;
  e.state = State::Pinning;
  e.cost_ns = price(e, terms);
  ++pins_;
  return Next::Pin;
}

ReusedBlocks::Entry* ReusedBlocks::entry_of(const Block& block) noexcept {
  const size_t first = first_of(block.base);
  for (size_t i = first; i < first + Ways; ++i)
    if (keys_[i].load(std::memory_order_relaxed) == block.base && entries_[i].birth == block.birth)
      return &entries_[i];
  return nullptr;
}

void ReusedBlocks::pinned(const Block& block, PinToken pin, const void* owner, uint64_t took_ns) noexcept {
  const Guard guard(*this);  // held, as it was in touch()
  if (Entry* e = entry_of(block)) {
    e->state = State::Pinned;
    e->pin = pin;
    e->owner = owner;
    e->owed_ns = 0;
    e->cost_ns = std::max(e->cost_ns, static_cast<double>(took_ns));
  } else {
    stale_[stale_count_++] = pin;  // freed meanwhile; counted as unsettled since
  }
}

void ReusedBlocks::not_pinned(const Block& block, bool refused) noexcept {
  const Guard guard(*this);  // held, as it was in touch()
  --pins_;
  if (Entry* e = entry_of(block)) {
    e->state = refused ? State::Refused : State::Fresh;
    e->owed_ns = 0;
  } else {
    unsettled_.fetch_sub(1, std::memory_order_release);
  }
}

// --- Pins that go ---

void ReusedBlocks::unpin_entry(Entry& e) noexcept {
  stale_[stale_count_++] = e.pin;
  unsettled_.fetch_add(1, std::memory_order_release);
  e.state = State::Fresh;
  e.pin = 0;
  e.owner = nullptr;
  e.owed_ns = 0;
}

// The program frees it: did its pin repay?
void ReusedBlocks::judge(const Entry& e) noexcept {
  if (e.state != State::Pinned || e.cost_ns <= 0) return;
  uint8_t& bar = bar_[size_class(e.bytes)];
  if (e.owed_ns < e.cost_ns)
    bar = static_cast<uint8_t>(std::min(bar + 1u, HighestBar));
  else if (bar > 0)
    --bar;
}

void ReusedBlocks::owner_leaves(const void* owner) noexcept {
  const Guard guard(*this);
  if (!guard.held()) return missed();
  for_each_entry([&](size_t i) GT_REQUIRES(mutex_) {
    Entry& e = entries_[i];
    if (e.state == State::Pinned && e.owner == owner) unpin_entry(e);
  });
}

// With as many pins as there may be it stays, as what the driver has pinned until its context goes.
void ReusedBlocks::retire(PinToken pin) noexcept {
  const Guard guard(*this);
  if (!guard.held() || pins_ == Most) return;
  ++pins_;
  stale_[stale_count_++] = pin;
  unsettled_.fetch_add(1, std::memory_order_release);
}

bool ReusedBlocks::take_stale(PinToken* pin) noexcept {
  if (is_settled()) return false;
  const Guard guard(*this);
  if (!guard.held() || stale_count_ == 0) return false;
  *pin = stale_[--stale_count_];
  return true;
}

void ReusedBlocks::settled() noexcept {
  const Guard guard(*this);  // held, as it was in take_stale()
  --pins_;
  unsettled_.fetch_sub(1, std::memory_order_release);
}

}  // namespace gt::opt
