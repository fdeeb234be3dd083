// What the injected library did, in a file that it shares with goptimize: plain numbers that only
// grow, so that they are whole whenever and however the program ends, SIGKILL included. Forked and
// executed children add to the same.
//
// Invariant: a file of version and size as here; everything else is zero when goptimize makes it.
// Thread safety: all members are relaxed atomics.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "optimizer-rt/pool/pinned_pool.h"
#include "transport/memory/move_counts.h"

namespace gt::opt {

constexpr uint64_t CountersMagic = 0x6172746e756f6367u;  // "gcountra"

// Why something was left as the program has it. The names are the keys of the report.
#define GT_FALLBACKS(X)                                                                            \
  X(SizeOutOfRange, "size_out_of_range") /* not in the profile, and nothing to gain at that size */ \
  X(PoolExhausted, "pool_exhausted")     /* no room, or a limit: libc served it */                 \
  X(NoArena, "no_address_space")         /* for an arena, or (ulimit -v) for staging */            \
  X(BeforeContext, "before_context")     /* opencl policy, no context yet: pinned later instead */ \
  X(DriverMemory, "driver_memory_refused") /* the opencl policy's memory was refused */            \
  X(PinRefused, "pin_refused")             /* the driver would not pin */                          \
  X(LockRefused, "lock_refused")           /* mlock: RLIMIT_MEMLOCK */                             \
  X(UnknownContext, "unknown_context")     /* a context that is released already, or not seen */   \
  X(PinTableFull, "pin_table_full")                                                                \
  X(StraddlingTransfer, "straddling_transfer") /* a transfer that leaves the block it starts in */ \
  X(FreedMemory, "transfer_of_freed_memory")                                                       \
  X(BadRelease, "bad_release")   /* free of what is no block: ignored */                           \
  X(PlanIgnored, "plan_ignored")     /* missing or damaged: the program ran plain */               \
  X(NotStaged, "not_staged") /* no pinned chunk was free, or the driver refused one: as without us */ \
  X(DeepBind, "deep_bind") /* a library's frees pass us by: no pool memory, no pins on reuse any more */ \
  X(UnknownQueue, "unknown_queue") /* more queues than we remember */                                \
  X(SparseMemory, "sparse_memory") /* a block of which most was never touched: a pin would fill it */ \
  X(NotShared, "pool_not_shared")  /* no file of memory was granted: transfers over shared memory are copied */ \
  X(NotMapped, "not_mapped")       /* the executor would not map pool memory: the transfer was copied */

enum class Fallback : uint32_t {
#define GT_X(id, text) id,
  GT_FALLBACKS(GT_X)
#undef GT_X
      Count,
};
constexpr const char* FallbackNames[] = {
#define GT_X(id, text) text,
    GT_FALLBACKS(GT_X)
#undef GT_X
};

using Counter = std::atomic<uint64_t>;
inline void add(Counter& c, uint64_t n) noexcept { c.fetch_add(n, std::memory_order_relaxed); }
inline uint64_t get(const Counter& c) noexcept { return c.load(std::memory_order_relaxed); }

// By what is at the device's side: memory objects, shared virtual memory.
enum Way : size_t { HostToDevice, DeviceToHost, HostToSvm, SvmToHost, Ways };

struct SiteCounters {
#define GT_SITE_COUNTER(name) Counter name;
#include "optimizer-rt/pool/counters.def"
  Counter refused_sizes;             // left to libc: neither in the profile nor a gain
  Counter saved_ns, paid_ns;         // against the standard policy; pins are paid
  Counter resumptions;               // trial_account.h
  Counter suspended_at, resumed_at;  // the number of the allocation, served or left, at the last one
};

struct Counters {
  uint64_t magic;
  uint64_t size;  // of this struct
#define GT_RUN_COUNTER(name, group, key, unit) Counter name;
#include "optimizer-rt/pool/counters.def"
  Counter device[32];  // transfers of pool memory on device i of the plan
  Counter node;  // that the pools' memory is preferred from, plus 1; 0: none
  memory::MoveCounts moves;  // of contents between devices of virtual contexts
  Counter fallbacks[static_cast<size_t>(Fallback::Count)];
  SiteCounters sites[MaxPoolSites];
};

}  // namespace gt::opt
