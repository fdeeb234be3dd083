// --capture full: reads and maps that do not wait. What they bring is looked at when the program has waited for them.
//
//   clEnqueueReadBuffer(q, b, CL_FALSE, ..., p, ..., &e)     its content is not known
//   Enter clWaitForEvents(1, {e}), SharedContent(p, ...), Exit
//
// By clFinish, by an event of theirs, or by a later call on their queue, which is in order, that waits. A table of
// fixed size: the oldest ones are forgotten.
// Thread safety: any thread; no lock, no allocation. Cost: of such a read, a question to the driver; of a call that
// waits, a look at the table, and the contents.
#pragma once

#include <CL/cl.h>

#include <cstdint>

#include "traces/api/host_box.h"

namespace gt::tracer {

// `event`: of the read, if the program has asked for one. REQUIRES: the Enter record of its call is written.
void note_read(uint16_t fn, cl_command_queue queue, cl_event event, const void* p, const api::HostBox& box) noexcept;

uint64_t reads_so_far() noexcept;
extern __thread uint64_t t_reads_begun __attribute__((tls_model("initial-exec")));  // by the call under way

// Of those that were there when a call began that has waited for all that was enqueued before it. `in_order`: if the
// queue is. REQUIRES: that call's Enter record is written, as of the next one.
void record_reads_of(uint16_t fn, cl_command_queue queue, bool in_order, uint64_t begun) noexcept;
void record_reads_with(uint16_t fn, const cl_event* events, cl_uint count) noexcept;

}  // namespace gt::tracer
