// Unified shared memory for a client whose devices' drivers have none (transport/usm), where it asked for that: in a
// process one emulation for each driver's functions (a loader's are those of all).
// Thread safety: any thread.
#pragma once

#include "transport/executor/base/cl.h"
#include "transport/usm/emulated_usm.h"

namespace gt::exec {

// Never destroyed. nullptr: the driver is older than OpenCL 2.0, or there are too many in this process.
usm::EmulatedUsm* emulated_usm(const Cl& cl, usm::Host host);

}  // namespace gt::exec
