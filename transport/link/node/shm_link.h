// A link inside a node: rings and memory that both sides map; a Unix socket tells when the peer is gone and carries the
// descriptors of shared segments.
//
//   control thread   frames from the ring to on_frame()
//   data thread      records from the ring: puts, gets
//   watch thread     the socket (shm_plug.h), the peer's process, signs of life. It never runs handlers, so what is
//                    asked of it (map this, let go of that) is answered at once
//
// Thread safety: as link.h says.
#pragma once

#include "transport/link/base/link.h"
#include "transport/link/node/shm_plug.h"

namespace gt::wire {

// The handshake is done; what remains is to share memory.
Result<std::unique_ptr<Link>> make_shm_client(Agreed agreed, ShmResume resume);
Result<std::unique_ptr<Link>> make_shm_server(Agreed agreed, ShmResume resume);

}  // namespace gt::wire
