// Which transfers are staged, and by what: the program's calls meet transport/staging here.
//
// A transfer is staged when the measured costs say that it takes clearly less time than the driver's own way. Pinned
// chunks, queues and threads cost a few milliseconds once; they are made when the transfers seen so far would have
// saved as much (ski rental: whatever comes, at most twice the best that hindsight could do).
// What transfers take is held against the costs, and staging that loses is suspended (pool/staging_trial.h).
// Calls that may be wrong are left to the driver, which knows the right error.
// Thread safety: all functions. Cost: one comparison for transfers below LeastStaged.
#pragma once

#include "optimizer-rt/cl/transfer_call.h"
#include "transport/staging/stager.h"

#pragma GCC visibility push(hidden)

namespace gt::opt {

constexpr size_t LeastStaged = size_t{4} << 10;  // bytes; below, the call is all that costs

// True: the transfer is done or under way, and `*error` is the call's result. `range`: its host side.
bool stage(const TransferCall& call, const staging::HostTransfer& transfer, cl_int* error) noexcept;

// May transfers of this device of the plan be staged? Not while they are the driver's, because staging lost.
bool may_stage(int device, Way way) noexcept;

// Does it pay to fill a new memory object by staging? Counts for what setting up is worth.
bool contents_pay(cl_context context, cl_device_id device, size_t bytes) noexcept;
// A transfer to a memory object that nobody knows yet; over when it returns. False: not done.
bool stage_contents(cl_context context, cl_device_id device, const staging::HostTransfer& transfer) noexcept;

// Makes a large range's pages present, with all copying threads; what the driver's pinning would do with one.
void populate(char* base, size_t bytes) noexcept;

// The program has let go of its context: so do we.
void stop_staging(cl_context context) noexcept;
// The driver has given up a wait: what it waited for may never end, but our own copies do, and the program may give its
// memory back now. Waits for them, for 2 s at most.
void settle_staging() noexcept;
// What staging holds in the context.
staging::Stager::Held staging_holds(cl_context context) noexcept;

}  // namespace gt::opt

#pragma GCC visibility pop
