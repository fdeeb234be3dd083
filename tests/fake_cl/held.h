// Commands run when they are enqueued, on the calling thread, unless something keeps them back: what they wait for, or
// a behaviour.
//
// A command is held until the events of its wait list are over and those before it in an in-order queue have run; in an
// out-of-order queue it waits for barriers before it, and a marker or barrier without a wait list for all before it. It
// then runs on the thread that completed the last of what it waited for. If an event of its wait list failed, so does
// the command, and nothing is run (OpenCL 3.0, section 5.11); one that merely comes after it in its queue runs.
// By Behaviour::runs a command runs not before somebody waits for it or for one behind it, on the thread that waits; or
// not before it is flushed, as in Mesa's rusticl: what is flushed together ends together, and not while any of it waits
// for a user event.
// Thread safety: all functions.
#pragma once

#include <functional>

#include "tests/fake_cl/objects.h"

namespace gt::fake {

struct Command {
  cl_command_queue queue;
  cl_uint waits;
  const cl_event* wait_list;
  cl_command_type type;
  uint64_t cost_ns = 1;  // of the device's time
  bool blocking = false;
  cl_event* event = nullptr;
};

// What is wrong with the queue and the wait list.
cl_int check(const Command& command);

bool runs_at_once(const Command& command);
cl_int finish(const Command& command);  // it has run
cl_int hold(const Command& command, std::function<void()> work);

// Runs `work`, now or when its time has come; it owns what it needs then. REQUIRES: check() is content.
template <class Work>
cl_int submit(const Command& command, Work work) {
  if (!runs_at_once(command)) return hold(command, std::move(work));
  work();
  return finish(command);
}

void run_what_may();  // an event is over
void flush(cl_command_queue queue);
void wait_for_all(cl_command_queue queue);
// CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST: it failed.
cl_int wait_for(cl_event event);
size_t held_commands(cl_command_type type);

}  // namespace gt::fake
