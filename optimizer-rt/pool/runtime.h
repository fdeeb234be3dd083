// The one state of the injected optimizer: its plan, its pools, its counters. The allocation hooks
// (redirect.cc) and the OpenCL hooks (cl/) meet here.
//
// Everything is zero-initialized (in .bss): hooks are called before any constructor has run, find
// no plan, and pass on. Thread safety: open() once, from the constructor of the library; learn() by one at a time;
// everything else from any thread.
#pragma once

#include "optimizer-rt/pool/counters.h"
#include "optimizer-rt/pool/held_plan.h"
#include "optimizer-rt/pool/numa.h"
#include "optimizer-rt/pool/pinned_pool.h"
#include "optimizer-rt/pool/plan.h"
#include "optimizer-rt/pool/requests.h"
#include "optimizer-rt/pool/sites.h"
#include "optimizer-rt/pool/trial_account.h"
#include "traces/base/fork_mark.h"
#include "traces/base/mutex.h"

#pragma GCC visibility push(hidden)

namespace gt::opt {

class Runtime {
 public:
  constexpr Runtime() = default;

  // Reads the plan and maps the counters that the environment names. Leaves everything off when
  // either is unusable.
  void open() noexcept;

  // Is it worth asking for a device that the plan does not name?
  bool asks() const noexcept { return asks_.load(std::memory_order_relaxed); }
  // Waits until goptimize has measured the device, or will not; the plan then has its costs, and what it has sites for
  // is served from then on. REQUIRES: asks()
  void learn(const DeviceTexts& device) noexcept;

  // The plan's site of this allocation served from its pool; nullptr: libc's business. About 2 ns
  // for most. `*fresh`: it was never used, and is zero.
  void* allocate(size_t size, size_t align, const void* address, bool* fresh = nullptr) noexcept {
    return __builtin_expect(sites_.may_match(size), 0) ? allocate_at_site(size, align, address, fresh) : nullptr;
  }
  bool owns(const void* p) const noexcept {
    return pools_[Pinned].owns(p) ||
           (more_pools_.load(std::memory_order_relaxed) &&
            (pools_[Locked].owns(p) || pools_[Hybrid].owns(p) || pools_[Driver].owns(p)));
  }
  // The pool that owns `p`, or nullptr.
  PinnedPool* pool_of(const void* p) noexcept;
  // Blocks of this pool become fast by being pinned in place.
  bool pins(const PinnedPool* pool) const noexcept {
    return pool == &pools_[Pinned] || pool == &pools_[Hybrid];
  }

  void release(void* p) noexcept;  // REQUIRES: owns(p)
  // The program has moved so many bytes: what lies idle may go back to the system. Before the call reaches the driver.
  void worked(size_t bytes) noexcept;

  // Time that a site has saved (positive) or lost; it may lose its policy by that, or get it back.
  void book(SiteIndex site, const TransferSaving& ns) noexcept;
  const PlanSite& plan_site(SiteIndex site) const noexcept { return plan().sites[site % MaxSites]; }
  TrialAccount& account(SiteIndex site) noexcept { return accounts_[site]; }

  // A device in use is on this node: the pools' memory, too. With devices on several nodes: on none in particular.
  void prefer_node(int node) noexcept;

  // Memory of the driver's for the opencl policy, for the rest of the process.
  bool wants_driver_memory() const noexcept;
  void adopt_driver_memory(void* base, size_t bytes) noexcept;

  const PlanView& plan() const noexcept { return plan_.get(); }
  bool active() const noexcept { return active_; }
  // Has pools, whose memory might reach a free() that is not ours.
  bool serves() const noexcept { return active_ && !plan().sites.empty(); }
  // Nothing to do with an allocation of this size, at whatever site.
  bool ignores(size_t size) const noexcept { return !sites_.may_match(size); }
  bool ignores(size_t size, const void* address) const noexcept { return ignores(size) || sites_.is_none(address); }
  // The program loads a library whose free() is libc's, which could not be led to us (libc_entries.h): from now on no
  // pool memory is given out and nothing is pinned on reuse.
  void stop_for_deep_binding() noexcept;
  Counters& counters() noexcept { return *counters_; }  // REQUIRES: active()
  bool in_forked_child() const noexcept { return mark_.in_child(); }  // pins are the parent's there
  void count(Fallback f) noexcept { add(counters_->fallbacks[static_cast<size_t>(f)], 1); }

  void lock_for_fork() noexcept;
  void unlock_after_fork() noexcept;

 private:
  static constexpr int SeveralNodes = -2;
  enum PoolIndex : size_t { Pinned, Locked, Hybrid, Driver, Pools };

  void* allocate_at_site(size_t size, size_t align, const void* address, bool* fresh) noexcept;
  void* allocate_in_pool(PinnedPool& pool, size_t size, size_t align, SiteIndex site, bool* fresh) noexcept;
  PinnedPool* pool_for(model::Policy policy) noexcept;
  void count_returned(PinnedPool& pool) noexcept;
  bool map_counters(const char* path) noexcept;
  // `memory`: what memory_limit() says, for which files are read.
  void prepare(const PlanView& plan, size_t memory) noexcept;
  void open_pools(const PlanView& plan, size_t memory) noexcept;

  HeldPlan plan_;
  SiteTable sites_;
  TrialAccount accounts_[MaxPoolSites];
  PinnedPool pools_[Pools];
  bool active_ = false;
  std::atomic<bool> more_pools_{false};
  std::atomic<bool> bypassed_{false};
  std::atomic<bool> driver_open_{false};
  std::atomic<int> node_{NoNode};  // or SeveralNodes
  ForkMark mark_;
  Requests* requests_ = nullptr;
  std::atomic<bool> asks_{false};
  Mutex opening_;  // held while pools are opened, and around fork()
  Counters* counters_ = nullptr;  // not null once a plan is open
};

extern Runtime runtime;

// How the pool's trim asks to drop a pin; set by a constructor of the OpenCL half. False: not now.
extern bool (*unpin_hook)(PinToken);
// The same for executors that map memory of a shared pool; nullptr: there are none yet. Set while other threads run.
extern std::atomic<bool (*)(void* base, size_t bytes)> deregister_hook;

// The program itself is in free(), malloc() or at the start of a call, not the driver inside one: only then may the
// pool call the driver.
extern __thread bool t_may_unpin __attribute__((tls_model("initial-exec")));

}  // namespace gt::opt

#pragma GCC visibility pop
