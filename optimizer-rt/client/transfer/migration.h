// Contents go from sub-context to sub-context when a command needs them: inside this process from driver to driver
// (transport/moves/native_moves.h), inside a proxy the same way (wire::Move), between proxies directly
// (peering.h), else through the client's memory.
// Thread safety: with the residency.
#pragma once

#include "optimizer-rt/client/memory/mem.h"

namespace gt::virt {

// Sees to it that `root` is valid at `to`, or will be when residency.ready of that sub-context has ended. REQUIRES: the
// context's residency is locked.
// Cost: what is small, has nothing to wait for and moves inside this process is moved by the caller; everything else
// goes on by itself, in threads of ours and messages. Throws a Failure when `to` is out of reach; what fails later
// fails `ready`, and so who waits for it.
void migrate(_cl_mem& root, SubContext& to);

}  // namespace gt::virt
