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

constexpr uint64_t CountersMagic = 0x3972746e756f6367u;  // "gcountr9"

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
  Counter allocations, bytes;  // served by the pool
  Counter fresh;               // of these: from memory never used before
  Counter refused_sizes;       // left to libc: neither in the profile nor a gain
  Counter left;                // left to libc: the site was suspended
  Counter pins, pinned_bytes, pin_ns;
  Counter hits, hit_bytes;             // transfers of its memory, fast or not
  Counter saved_ns, paid_ns;           // against the standard policy; pins are paid
  Counter suspensions, resumptions;    // trial_account.h
  Counter suspended_at, resumed_at;    // the number of the allocation, served or left, at the last one
};

struct Counters {
  uint64_t magic;
  uint64_t size;                                // of this struct
  Counter processes;                            // that loaded the library and read the plan
  Counter pinned_ranges, pinned_bytes, pin_ns;  // pins made
  Counter transfers, transfer_bytes;  // all that the program asked for, in the pool or not
  Counter device[32];                 // transfers of pool memory on device i of the plan
  Counter devices_met, devices_known;  // whose costs were asked for; of these: that the plan has
  Counter staged, staged_bytes, staged_ns;  // transfers of other memory, through pinned chunks; in our code
  Counter staged_saved_ns, staged_lost_ns;  // against what the costs say of the standard way
  Counter staged_measured, staged_measured_ns, staged_driver_ns;  // could be compared: staging_trial.h
  Counter staged_left, staged_suspensions;  // not staged while it was suspended; how often it was
  Counter drivers_own, drivers_own_bytes;  // transfers left as they are: cl/drivers_memory.h
  Counter copies_alone;  // of staging and of making pages present: not shared out, because all processors were busy
  Counter reused_blocks, reused_bytes, reuse_pin_ns;  // pinned because they were transferred again; also in pinned_*
  Counter reused, reused_saved_ns;                    // transfers of these; against the standard way
  Counter returned_excess, returned_short, returned_idle;  // bytes given back to the system: PoolOptions, Returned
  Counter node;  // that the pools' memory is preferred from, plus 1; 0: none
  Counter remote_devices;  // in the program's list, when it last asked for it first
  Counter remote_contexts;  // that it made, of remote devices or with some
  memory::MoveCounts moves;  // of contents between devices of virtual contexts
  Counter in_place, in_place_bytes;  // transfers of pool memory by executors of this node, in place
  Counter fallbacks[static_cast<size_t>(Fallback::Count)];
  SiteCounters sites[MaxPoolSites];
};

}  // namespace gt::opt
