// Resolving sites against the loaded modules.
#include "optimizer-rt/pool/sites.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "tracer/interpose/loaded_modules.h"

namespace gt::opt {
namespace {

const char* file_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash ? slash + 1 : path;
}

// A build-id says which code it is; without one the name must do.
bool is_module(const PlanSite& site, const interpose::ModuleInfo& module) {
  if (site.build_id[0]) return std::strcmp(site.build_id, module.build_id) == 0;
  return !module.build_id[0] && std::strcmp(site.module, file_name(module.path)) == 0;
}

// Sizes that some site has a use for.
struct Sizes {
  size_t low = SIZE_MAX, high = 0;

  void add(const PlanSite& s) {
    low = std::min<size_t>(low, s.min_bytes);
    high = std::max<size_t>(high, s.max_bytes);
    if (s.other_sizes == 0) return;
    low = std::min(low, size_t{1} << std::countr_zero(s.other_sizes));
    high = std::max(high, SIZE_MAX >> std::countl_zero(s.other_sizes));
  }
};

}  // namespace

void SiteTable::open(const PlanView& plan) noexcept {
  plan_ = plan;
  Sizes sizes;
  for (const PlanSite& s : plan.sites) sizes.add(s);
  unresolved_.store(plan.sites.size(), std::memory_order_release);
  resolve();
  if (!plan.sites.empty()) {
    min_.store(sizes.low, std::memory_order_relaxed);
    range_.store(sizes.high - sizes.low, std::memory_order_relaxed);
  }
}

void SiteTable::add(uintptr_t address, int site) noexcept {
  if (address == 0 || lookup(address) != None || used_ >= Slots / 2) return;
  size_t i = slot_of(address);
  while (slots_[i].address.load(std::memory_order_relaxed) != 0) i = (i + 1) % Slots;
  slots_[i].site.store(site, std::memory_order_relaxed);
  slots_[i].address.store(address, std::memory_order_release);
  ++used_;
}

int SiteTable::lookup(uintptr_t address) const noexcept {
  for (size_t i = slot_of(address);; i = (i + 1) % Slots) {  // ends: half of the slots stay empty
    const uintptr_t a = slots_[i].address.load(std::memory_order_acquire);
    if (a == address) return slots_[i].site.load(std::memory_order_relaxed);
    if (a == 0) return None;
  }
}

int SiteTable::find(const void* address) noexcept {
  const int site = lookup(reinterpret_cast<uintptr_t>(address));
  if (site != None || unresolved_.load(std::memory_order_acquire) == 0) return site;
  if (!is_time_to_look()) return None;
  if (interpose::modules_are_found_unlocked())
    resolve_module_of(address);
  else if (interpose::modules_changed())
    resolve();
  return lookup(reinterpret_cast<uintptr_t>(address));
}

// A library that was asked for may still be on its way when its constructors allocate; those that nobody asked for by
// name (the C library's own) are found a little later. Two threads may count as one: then it is looked more often.
bool SiteTable::is_time_to_look() noexcept {
  constexpr uint32_t Looks = 1000, Interval = 1024;
  const uint32_t asked = interpose::libraries_asked_for.load(std::memory_order_relaxed);
  if (asked != asked_.load(std::memory_order_relaxed)) {
    asked_.store(asked, std::memory_order_relaxed);
    passed_.store(0, std::memory_order_relaxed);
  }
  const uint32_t passed = passed_.load(std::memory_order_relaxed);
  passed_.store(passed + 1, std::memory_order_relaxed);
  return passed < Looks || passed % Interval == 0;
}

void SiteTable::resolve() noexcept {
  if (resolving_.exchange(true, std::memory_order_acquire)) return;
  interpose::for_each_module([this](const interpose::ModuleInfo& module) { add_sites_of(module); });
  resolving_.store(false, std::memory_order_release);
}

// The dynamic linker's lock may be held by a thread that waits for one that the program allocates under: so not all
// modules are looked at, but the one that calls, which is found without the lock.
void SiteTable::resolve_module_of(const void* address) noexcept {
  const auto at = reinterpret_cast<uintptr_t>(address);
  const uint32_t asked = asked_.load(std::memory_order_relaxed);
  if (at - seen_base_ < seen_bytes_ && seen_asked_ == asked) return;
  if (resolving_.exchange(true, std::memory_order_acquire)) return;
  interpose::for_module_of(address, [&](const interpose::ModuleInfo& module) {
    add_sites_of(module);
    seen_bytes_ = 0;  // never another module's bytes from here
    seen_base_ = module.base;
    seen_asked_ = asked;
    seen_bytes_ = module.end - module.base;
  });
  resolving_.store(false, std::memory_order_release);
}

void SiteTable::add_sites_of(const interpose::ModuleInfo& module) noexcept {
  size_t resolved = 0;
  for (size_t i = 0; i < plan_.sites.size(); ++i) {
    const PlanSite& site = plan_.sites[i];
    if (!is_module(site, module) || site.offset >= module.end - module.bias) continue;
    add(module.bias + site.offset, static_cast<int>(i));
    if (!done_[i]) ++resolved;
    done_[i] = true;
  }
  unresolved_.fetch_sub(resolved, std::memory_order_relaxed);
}

}  // namespace gt::opt
