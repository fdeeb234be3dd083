// From the return address of an allocation to the plan's site.
//
// The plan names sites by module and offset; here they become addresses as modules are loaded. The
// table only grows: an address whose module was unloaded may match other code later, which then
// gets pool memory where it expected libc's; that is harmless.
// Cost: a size that is outside of all sites' sizes, the other ones at which they gain included, is refused by one
// subtraction and one comparison, most addresses that are no site's by two loads more; otherwise one probe. Thread
// safety: find() from any thread, lock-free; resolve() by one thread at a time, others return at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "optimizer-rt/pool/plan.h"

namespace gt::interpose {
struct ModuleInfo;
}

namespace gt::opt {

class SiteTable {
 public:
  constexpr SiteTable() = default;
  static constexpr int None = -1;

  // Once with sites, which must stay; from any thread.
  void open(const PlanView& plan) noexcept;

  bool may_match(size_t size) const noexcept {
    return size - min_.load(std::memory_order_relaxed) <= range_.load(std::memory_order_relaxed);
  }
  // Surely none of the plan's sites. False: ask find().
  bool is_none(const void* address) const noexcept {
    const Slot& first = slots_[slot_of(reinterpret_cast<uintptr_t>(address))];
    return first.address.load(std::memory_order_relaxed) == 0 && unresolved_.load(std::memory_order_relaxed) == 0;
  }
  // The plan's site at this return address, or None. Looks at newly loaded modules while sites are
  // unresolved.
  int find(const void* address) noexcept;
  // Looks through the loaded modules for sites that are not resolved yet.
  void resolve() noexcept;

  void add(uintptr_t address, int site) noexcept;  // public for tests

 private:
  static constexpr size_t Slots = 1024;  // four for each site
  static_assert(Slots >= 4 * MaxSites);
  struct Slot {
    std::atomic<uintptr_t> address{0};
    std::atomic<int> site{0};
  };
  static size_t slot_of(uintptr_t address) noexcept {
    return static_cast<size_t>((address * 0x9e3779b97f4a7c15u) >> 54);
  }
  int lookup(uintptr_t address) const noexcept;
  // To ask for newly loaded modules takes 16 ns.
  bool is_time_to_look() noexcept;
  void resolve_module_of(const void* address) noexcept;
  void add_sites_of(const interpose::ModuleInfo& module) noexcept;  // under resolving_

  PlanView plan_;
  std::atomic<size_t> min_{0}, range_{0};  // until open only size 0 matches, and finds nothing
  size_t used_ = 0;
  std::atomic<size_t> unresolved_{0};
  std::atomic<bool> resolving_{false};
  std::atomic<uint32_t> asked_{0}, passed_{0};  // libraries asked for when it was last looked; allocations since
  // The module that was looked at last; a reader that meets a change looks once more, or not.
  std::atomic<uintptr_t> seen_base_{0}, seen_bytes_{0};
  std::atomic<uint32_t> seen_asked_{0};
  bool done_[MaxSites] = {};
  Slot slots_[Slots];
};

}  // namespace gt::opt
