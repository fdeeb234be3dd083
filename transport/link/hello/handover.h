// A supervisor gives connections to its workers, through a Unix socket. Thread safety: functions from any thread.
#pragma once

#include <optional>

#include "traces/base/fd.h"
#include "traces/base/status.h"
#include "transport/link/hello/hello.h"

namespace gt::wire {

struct WorkerSocket {
  Fd supervisor, worker;  // both close-on-exec; a launcher clears that of `worker`
};
Result<WorkerSocket> worker_socket();

// Gives a connection, of which only the hello was read, to the worker at the other end of `worker`: a Unix socket made
// by worker_socket(). Does not block; Busy: the worker does not keep up. The caller closes its descriptors.
Status hand_over(int worker, int connection, const Hello& hello);

// The worker's side: what hand_over() gave; nothing: none waits.
struct Handed {
  Fd connection;
  Hello hello;
};
Result<std::optional<Handed>> take_over(int handover);

}  // namespace gt::wire
