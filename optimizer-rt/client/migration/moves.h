// Contents go from place to place when a command needs them: inside this process from driver to driver
// (transport/moves/native_moves.h), inside a proxy the same way (wire::Move), between proxies directly
// (introductions.h), else through the client's memory.
#pragma once

#include <functional>
#include <vector>

#include "optimizer-rt/client/migration/homes.h"
#include "optimizer-rt/client/objects/mem.h"
#include "transport/memory/move_counts.h"

namespace gt::virt {

// Sees to it that `root` is valid at `to`, or will be when residency.ready of that place has ended. REQUIRES: the
// context's residency is locked.
void bring(_cl_mem& root, Place& to);

// The root is another native object at the place from now on: sees to it that it holds what the one before holds, as
// bring() does. REQUIRES: as above; executors of this process.
void refill(_cl_mem& root, Place& place, NativeMem before);

// How often and how much; from the start, or into memory of goptimize's.
memory::MoveCounts& move_counts();
void count_moves_in(memory::MoveCounts* there);

// A command that writes the contents is about to be sent. REQUIRES: as above.
void add_writer(Residency& residency, const Ref<_cl_event>& event);

// When all have ended; the worst of their states. On the thread for work.
void after_all(const std::vector<Ref<_cl_event>>& events, std::function<void(cl_int)> then);

}  // namespace gt::virt
