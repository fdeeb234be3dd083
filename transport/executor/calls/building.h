// One build, compilation or link, and what became of it.
// Thread safety: one job at a time for each program, as OpenCL asks.
#pragma once

#include <atomic>
#include <chrono>
#include <vector>

#include "transport/executor/base/session.h"
#include "transport/protocol/messages.h"

namespace gt::exec {

// What Build asks for, in native handles; with a reference to each program, and after a link to what it made. A job
// lets go of none by itself: who runs it does (programs.cc).
struct BuildJob {
  wire::Build asked;
  cl_program program = nullptr;  // Link: the result, made by the job
  cl_context context = nullptr;  // Link
  std::vector<cl_device_id> devices;  // `listed` in the call, then the program's others
  std::vector<wire::ObjectId> device_ids;
  size_t listed = 0;
  std::vector<cl_program> inputs;
  std::chrono::steady_clock::time_point deadline;
  std::atomic<bool> answered{false};
  bool late = false;  // with the lock of Programs::Work
};

// Makes the calls; returns when the driver does. Link: job.program is the result.
cl_int build(const Session& session, BuildJob& job);
// Status and log for each device, unlisted ones included (sub-devices have what was built for their parent), and the
// kernels with their arguments.
void describe(const Session& session, const BuildJob& job, wire::Built& out);

}  // namespace gt::exec
