// Is a command under way? Told by the program's own waiting alone: nobody is asked, nothing is waited for.
//
// A queue is idle until something is enqueued to it, and again when the program has finished it, has waited for the
// last command of one that is in order, or has enqueued a command there that waits. What is not seen so counts as under
// way: so does what another thread enqueues meanwhile.
// Thread safety: any thread; no lock, no allocation. Cost: a look at some of 64 words; a question to the driver when an
// idle queue gets a command.
#pragma once

#include <CL/cl.h>

#include <cstdint>

namespace gt::tracer {

extern __thread uint32_t t_notes_begun __attribute__((tls_model("initial-exec")));  // by the call under way

// Around a call that enqueues: what the first one gives is for the second one. `event`: of the command, if the program
// has asked for one. `waited`: the call has returned when the command was complete.
uint32_t note_enqueuing(cl_command_queue queue) noexcept;
void note_enqueued(cl_command_queue queue, uint32_t begun, cl_event event, bool waited) noexcept;
// Around clFinish, the same.
uint32_t note_finishing(cl_command_queue queue) noexcept;
void note_finished(cl_command_queue queue, uint32_t begun) noexcept;
void note_waited(const cl_event* events, cl_uint count) noexcept;
void note_unseen() noexcept;  // commands that cannot be followed: from now on nothing is idle
bool all_idle() noexcept;

bool in_order(cl_command_queue queue) noexcept;  // its driver is asked

}  // namespace gt::tracer
