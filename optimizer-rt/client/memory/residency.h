// Where the contents of a memory object are, and what may still write them.
// Thread safety: the mutex of the context that is called residency.
#pragma once

#include <memory>
#include <vector>

#include "optimizer-rt/client/objects/context.h"
#include "optimizer-rt/client/objects/event.h"

namespace gt::virt {

// Where the contents of a root are. Until a first command writes them they are nowhere, which is as good as anywhere.
struct Residency {
  explicit Residency(size_t sub_contexts) : valid(sub_contexts), ready(sub_contexts), peer_mapped(sub_contexts) {}
  // A command that writes the contents is about to be sent.
  void add_writer(const Ref<_cl_event>& event);

  std::vector<bool> valid;
  std::vector<Ref<_cl_event>> ready;    // by sub-context: the move that brings them there; none: they are there
  std::vector<Ref<_cl_event>> writers;  // commands that may still write them
  size_t most_writers = 0;              // as soon as there are so many, those that have ended are dropped
  // By sub-context: what it lives in (transfer/peer_mapped.h); none: the driver's memory.
  std::vector<std::shared_ptr<PeerMemory>> peer_mapped;
  unsigned unmapped_moves = 0;  // from device to device of this process
  bool has_parts = false;       // objects that share its memory: it cannot live elsewhere
};

bool have_ended(const std::vector<Ref<_cl_event>>& events);

}  // namespace gt::virt
