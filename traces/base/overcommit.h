// Whether the system promises memory before it has it. Where it does not (vm.overcommit_memory = 2), private memory
// that cannot be had is refused when it is asked for, but a page of a file of memory only when it is touched: by a
// signal.
// Thread safety: yes. Cost: a file read.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include "traces/base/fd.h"

namespace gt {

inline bool memory_is_promised() {
  char mode = '0';
  const Fd file(::open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC));
  return !file.open() || ::read(file.get(), &mode, 1) != 1 || mode != '2';
}

}  // namespace gt
