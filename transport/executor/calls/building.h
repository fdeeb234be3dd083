// One build, compilation or link, and what became of it.
// Thread safety: one job at a time for each program, as OpenCL asks.
#pragma once

#include "transport/executor/calls/programs.h"

namespace gt::exec {

// Makes the calls; returns when the driver does. Link: job.program is the result.
cl_int build(const Session& session, BuildJob& job);
// Status and log for each device, unlisted ones included (sub-devices have what was built for their parent), and the
// kernels with their arguments.
void describe(const Session& session, const BuildJob& job, wire::Built& out);

}  // namespace gt::exec
