// Opening the plan, the counters and the pools; serving allocations.
#include "optimizer-rt/pool/runtime.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "optimizer-rt/pool/heap_room.h"
#include "optimizer-rt/pool/huge_pages.h"
#include "optimizer-rt/pool/kept_blocks.h"
#include "optimizer-rt/pool/memory_limit.h"
#include "optimizer-rt/pool/memory_watch.h"
#include "optimizer-rt/pool/reused_blocks.h"
#include "optimizer-rt/pool/static_data.h"
#include "traces/base/clock.h"
#include "traces/base/fd.h"

namespace gt::opt {

constinit Runtime runtime;
bool (*unpin_hook)(PinToken) = nullptr;
constinit std::atomic<bool (*)(void*, size_t)> deregister_hook{nullptr};
__thread bool t_may_unpin = false;

namespace {

using model::Policy;

constinit MemoryWatch memory_watch;

constexpr size_t MaxArena = size_t{256} << 30;

// Addresses for a pool: plenty, but of a limit that the program needs itself little enough for three pools.
size_t address_space(size_t memory) { return std::min({2 * memory, address_space_limit() / 32, MaxArena}); }

// Against the C library, which gives large blocks back to the system and pays for their pages again. That the pool
// serves a block takes some 100 ns longer, more when threads meet at its lock.
double allocation_saving(const PlanSite& site, size_t size, bool fresh) {
  constexpr double BlockCost_ns = 150;
  const double bytes = static_cast<double>(size);
  if (fresh) return -BlockCost_ns - site.lock_ns_per_byte * bytes;
  return (bytes > model::ReturnedAbove ? site.reuse_ns_per_byte * bytes : 0) - BlockCost_ns;
}

bool drop_pin(PinToken pin) { return t_may_unpin && unpin_hook && unpin_hook(pin); }
bool deregister(void* base, size_t bytes) {
  const auto hook = deregister_hook.load(std::memory_order_acquire);
  return !hook || (t_may_unpin && hook(base, bytes));
}

// What is taken before a fork is held until after it.
void before_fork() GT_NO_THREAD_SAFETY_ANALYSIS {
  kept_blocks.give_back(KeptBlocks::Always);
  runtime.lock_for_fork();
  reused_blocks.lock_for_fork();
}
void after_fork() GT_NO_THREAD_SAFETY_ANALYSIS {
  reused_blocks.unlock_after_fork();
  runtime.unlock_after_fork();
}
void after_fork_in_child() GT_NO_THREAD_SAFETY_ANALYSIS {
  reused_blocks.forget_in_child();
  huge_pages.forget_in_child();
  heap_room.forget_in_child();
  kept_blocks.forget_in_child();
  runtime.unlock_after_fork();
}

bool libc_asks_for_huge_pages() {
  const char* const tunables = std::getenv("GLIBC_TUNABLES");
  return tunables && std::strstr(tunables, "glibc.malloc.hugetlb=1");
}

// Where the plan says that pinning may pay, and what it costs.
bool pins_on_reuse(const PlanView& plan) {
  const auto reuse = static_cast<Reuse>(plan.header->reuse);
  if (reuse != Reuse::Auto) return reuse == Reuse::Always;
  return std::ranges::any_of(plan.devices, [](const PlanDevice& d) {
    return d.pin.known() && (d.ways[HostToDevice].pinned.known() || d.ways[DeviceToHost].pinned.known());
  });
}

}  // namespace

void Runtime::open() noexcept {
  const char* path = std::getenv(PlanVariable);
  const char* counters = std::getenv(CountersVariable);
  if (!path || !counters || !map_counters(counters)) return;
  if (!plan_.open(path)) return count(Fallback::PlanIgnored);
  mark_ = ForkMark::here();
  if (plan().header->asks) requests_ = map_requests();
  asks_.store(requests_ != nullptr, std::memory_order_relaxed);
  if (requests_) static_data.open();  // before there is a second thread
  ::pthread_atfork(before_fork, after_fork, after_fork_in_child);
  add(counters_->processes, 1);
  active_ = true;
  const size_t memory = memory_limit();
  if (plan().header->huge_pages)
    huge_pages.open(std::min(HugePages::Budget, memory / 16),
                    {&counters_->huge_blocks, &counters_->huge_bytes, &counters_->huge_filled},
                    libc_asks_for_huge_pages());
  prepare(plan(), memory);
  sites_.open(plan());  // from here on allocations are served
}

void Runtime::prepare(const PlanView& plan, size_t memory) noexcept {
  for (size_t i = 0; i < plan.sites.size(); ++i) {
    const uint64_t margin_ns = plan.sites[i].margin_ns;
    accounts_[i].open(margin_ns);
    accounts_[MaxSites + i].open(std::min(margin_ns, LeastMargin_ns));  // sizes of which nothing was promised
  }
  open_pools(plan, memory);
  if (reused_blocks.is_open() || !pins_on_reuse(plan)) return;
  reused_blocks.open();
  if (!requests_) static_data.open();  // else it is open, and may have learnt what is mapped over it
}

void Runtime::learn(const DeviceTexts& device) noexcept {
  const bool answered = requests_->ask(device);
  if (!answered) asks_.store(false, std::memory_order_relaxed);  // nobody waits twice for nothing
  const MutexLock lock(opening_);
  const PlanView later = answered ? plan_.read_later() : PlanView();
  if (!later.header) return;
  asks_.store(later.header->asks != 0, std::memory_order_relaxed);
  if (later.devices.size() == plan().devices.size()) return;
  const bool had_sites = !plan().sites.empty();
  if (!had_sites) prepare(later, memory_limit());
  plan_.hold(later);
  if (!had_sites) sites_.open(later);
  if (bypassed_.load()) reused_blocks.close();  // it was found out meanwhile that it must stay closed
}

bool Runtime::map_counters(const char* path) noexcept {
  const Fd file(::open(path, O_RDWR | O_CLOEXEC));
  struct stat st {};
  if (!file.open() || ::fstat(file.get(), &st) != 0 || st.st_size != sizeof(Counters)) return false;
  void* p = ::mmap(nullptr, sizeof(Counters), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (p == MAP_FAILED) return false;
  auto* counters = static_cast<Counters*>(p);
  if (counters->magic != CountersMagic || counters->size != sizeof(Counters)) return false;
  counters_ = counters;
  return true;
}

void Runtime::open_pools(const PlanView& plan, size_t memory) noexcept {
  bool used[model::PolicyCount] = {};
  for (const PlanSite& s : plan.sites) used[s.policy] = true;
  PoolOptions o;
  o.reserve_bytes = address_space(memory);
  o.shared = plan.header->shared != 0;
  o.limit_bytes = o.shared ? memory / 3 : memory / 4 * 3;  // a fork needs as much again for the child
  o.cache_bytes = memory / 8;
  o.unpin = drop_pin;
  o.deregister = deregister;
  memory_watch.open(memory);
  o.short_of = [] { return memory_watch.missing(monotonic_ns(), memory_left); };
  const auto is_used = [&](Policy p) { return used[static_cast<size_t>(p)]; };
  const auto open_pool = [&](PoolIndex i, bool lock) {
    o.lock = lock;
    if (!pools_[i].open(o)) return count(Fallback::NoArena);
    if (o.shared && !pools_[i].is_shared()) count(Fallback::NotShared);
  };
  // The opencl policy falls back to pinning before there is a context.
  if (is_used(Policy::Pin) || is_used(Policy::OpenCl)) open_pool(Pinned, false);
  if (is_used(Policy::Locked)) open_pool(Locked, true);
  if (is_used(Policy::Hybrid)) open_pool(Hybrid, true);
  more_pools_.store(is_used(Policy::Locked) || is_used(Policy::Hybrid) || is_used(Policy::OpenCl),
                     std::memory_order_relaxed);
}

PinnedPool* Runtime::pool_for(Policy policy) noexcept {
  switch (policy) {
    case Policy::Pin:
      return &pools_[Pinned];
    case Policy::Locked:
      return &pools_[Locked];
    case Policy::Hybrid:
      return &pools_[Hybrid];
    case Policy::OpenCl:
      if (driver_open_.load(std::memory_order_acquire)) return &pools_[Driver];
      count(Fallback::BeforeContext);
      return &pools_[Pinned];
    default:
      return nullptr;
  }
}

void* Runtime::allocate_at_site(size_t size, size_t align, const void* address, bool* fresh) noexcept {
  const int index = sites_.find(address);
  if (index == SiteTable::None) return nullptr;
  auto i = static_cast<SiteIndex>(index);
  const PlanSite& site = plan().sites[i];
  if (!site.saw(size)) {
    i = static_cast<SiteIndex>(i + MaxSites);
    if (!site.gains_at(size)) {
      add(counters_->sites[i].refused_sizes, 1);
      return count(Fallback::SizeOutOfRange), nullptr;
    }
  }
  if (bypassed_.load(std::memory_order_relaxed)) return nullptr;
  if (!accounts_[i].takes_next()) return add(counters_->sites[i].left, 1), nullptr;
  PinnedPool* pool = pool_for(static_cast<Policy>(site.policy));
  if (!pool) return nullptr;
  void* p = allocate_in_pool(*pool, size, align, i, fresh);
  if (!p && pool == &pools_[Driver]) p = allocate_in_pool(pools_[Pinned], size, align, i, fresh);
  if (!p) count(Fallback::PoolExhausted);
  return p;
}

void* Runtime::allocate_in_pool(PinnedPool& pool, size_t size, size_t align, SiteIndex site,
                                bool* is_fresh) noexcept {
  const int saved_errno = errno;
  bool fresh = false;
  t_may_unpin = true;
  void* p = pool.allocate(size, align, site, &fresh);
  t_may_unpin = false;
  errno = saved_errno;
  if (!p) return nullptr;
  if (is_fresh) *is_fresh = fresh;
  count_returned(pool);
  SiteCounters& c = counters_->sites[site];
  add(c.allocations, 1);
  add(c.bytes, size);
  if (fresh) {
    add(c.fresh, 1);
    if (pool.lock_refused()) count(Fallback::LockRefused);
  }
  const double saved = allocation_saving(plan_site(site), size, fresh);
  book(site, {saved, saved});
  return p;
}

void Runtime::stop_for_deep_binding() noexcept {
  if (bypassed_.exchange(true)) return;
  reused_blocks.close();
  count(Fallback::DeepBind);
}

void Runtime::book(SiteIndex site, const TransferSaving& ns) noexcept {
  SiteCounters& c = counters_->sites[site];
  add(ns.counts < 0 ? c.paid_ns : c.saved_ns, static_cast<uint64_t>(std::fabs(ns.counts)));
  const TrialAccount::Turn turn = accounts_[site].book(ns.decides);
  if (turn == TrialAccount::Turn::None) return;
  const bool suspended = turn == TrialAccount::Turn::Suspended;
  add(suspended ? c.suspensions : c.resumptions, 1);
  (suspended ? c.suspended_at : c.resumed_at).store(get(c.allocations) + get(c.left), std::memory_order_relaxed);
}

PinnedPool* Runtime::pool_of(const void* p) noexcept {
  for (PinnedPool& pool : pools_)
    if (pool.owns(p)) return &pool;
  return nullptr;
}

void Runtime::release(void* p) noexcept {
  const int saved_errno = errno;  // free() keeps it
  PinnedPool* pool = pool_of(p);
  const uint64_t before = pool->bad_releases();
  pool->release(p);
  if (pool->bad_releases() != before) count(Fallback::BadRelease);
  t_may_unpin = false;
  errno = saved_errno;
  count_returned(*pool);
}

void Runtime::worked(size_t bytes) noexcept {
  for (PinnedPool& pool : pools_) {
    if (!pool.worked(bytes)) continue;
    t_may_unpin = true;
    pool.trim();
    t_may_unpin = false;
    count_returned(pool);
  }
}

void Runtime::count_returned(PinnedPool& pool) noexcept {
  const Returned bytes = pool.take_returned();
  if (bytes.excess) add(counters_->returned_excess, bytes.excess);
  if (bytes.short_memory) add(counters_->returned_short, bytes.short_memory);
  if (bytes.idle) add(counters_->returned_idle, bytes.idle);
}

void Runtime::prefer_node(int node) noexcept {
  int before = NoNode;
  if (node == NoNode) return;
  if (node_.compare_exchange_strong(before, node)) {
    bool placed = false;
    for (PinnedPool& pool : pools_) placed |= pool.prefer_node(node);
    if (placed) counters_->node.store(static_cast<uint64_t>(node) + 1, std::memory_order_relaxed);
  } else if (before != node && node_.exchange(SeveralNodes) != SeveralNodes) {
    for (PinnedPool& pool : pools_) pool.prefer_node(NoNode);
    counters_->node.store(0, std::memory_order_relaxed);
  }
}

bool Runtime::wants_driver_memory() const noexcept {
  return active_ && plan().header->driver_bytes > 0 &&
         !driver_open_.load(std::memory_order_relaxed);
}

void Runtime::adopt_driver_memory(void* base, size_t bytes) noexcept {
  constexpr PinToken Permanent = 1;  // only compared within this pool
  if (pools_[Driver].open_over(base, bytes, Permanent))
    driver_open_.store(true, std::memory_order_release);
  else
    count(Fallback::DriverMemory);
}

// Held from one call to the next, as many as there are pools.
void Runtime::lock_for_fork() noexcept GT_NO_THREAD_SAFETY_ANALYSIS {
  opening_.lock();
  for (PinnedPool& pool : pools_) pool.lock_for_fork();
}
void Runtime::unlock_after_fork() noexcept GT_NO_THREAD_SAFETY_ANALYSIS {
  for (size_t i = Pools; i-- > 0;) pools_[i].unlock_after_fork();
  opening_.unlock();
}

}  // namespace gt::opt
