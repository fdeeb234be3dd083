// A place kept free in the program's queue for a transfer that runs elsewhere.
//
// A staged transfer is many commands in a queue of ours; to the program it must be one command in the program's queue,
// at the place where it was enqueued. So two markers are put there at once:
//
//   program's queue   ... earlier commands | before | after | later commands ...
//   our pipeline                             `----> chunk, chunk, ... --> done (a user event) --^
//
// `before` completes when the transfer may begin (everything earlier in an in-order queue, and the wait list); `after`
// waits for `done`, and is the transfer's event for the program. Whatever others enqueue meanwhile comes behind.
// (OpenCL 3.0, section 5.15: markers; 5.11: user events.) Costs about 8 us on an NVIDIA driver.
#pragma once

#include "transport/opencl/cl_functions.h"

namespace gt::staging {

// What must be known of the program's queue.
struct QueueFacts {
  cl_command_queue queue = nullptr;
  cl_context context = nullptr;
  bool in_order = true;
  bool profiling = false;
  bool has_barriers = false;  // of an out-of-order queue: a barrier was enqueued, ever
  bool shared = true;         // other threads may enqueue commands while this one does
};

// Ownership: a value whose copies name the same events; one of them is finish()ed, once, and nothing is let go of
// before. The reference to after() is its opener's, to be given to the program or released. before() is valid until
// finish().
// Thread safety: none; who opened it may leave state() and finish() to another thread. Allocates nothing; state() waits
// only where the driver does not tell.
class QueuePlaceholder {
 public:
  // False: nothing was changed, and nothing can be put into this queue. An out-of-order queue with barriers, without a
  // wait list, is refused: no marker says "after the last barrier, but not after everything".
  bool open(const ClFunctions& cl, const QueueFacts& queue, cl_uint waits, const cl_event* wait_list) noexcept;

  cl_event before() const noexcept { return before_; }  // nullptr: the transfer may begin at once
  cl_event after() const noexcept { return after_; }
  enum class State { Closed, Open, Failed };  // Failed: `before` did; nothing is to be moved
  State state(const ClFunctions& cl) const noexcept;
  // The transfer is over; lets go of all events but `after`.
  void finish(const ClFunctions& cl, cl_int error) noexcept;

 private:
  cl_event before_ = nullptr, done_ = nullptr, after_ = nullptr;
};

}  // namespace gt::staging
