// Would the driver accept this transfer? Only what surely is right is staged; about everything else the driver itself
// tells the program. (OpenCL 3.0, sections 5.2.2 and 5.3.3: the errors of the enqueue functions.)
// Thread safety: pure but for questions to the driver. Cost: some 0.3 us.
#pragma once

#include "optimizer-rt/cl/queues.h"
#include "optimizer-rt/cl/transfer_call.h"

#pragma GCC visibility push(hidden)

namespace gt::opt {

// `transfer`: what describe() made of it. REQUIRES: it has bytes.
bool is_valid_transfer(const TransferCall& call, const staging::HostTransfer& transfer,
                       const QueueEntry& queue) noexcept;

}  // namespace gt::opt

#pragma GCC visibility pop
