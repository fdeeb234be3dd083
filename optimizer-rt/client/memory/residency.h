// Where the contents of a memory object are, and what may still write them.
// Thread safety: the mutex of the context that is called residency.
#pragma once

#include <memory>
#include <vector>

#include "optimizer-rt/client/objects/context.h"
#include "optimizer-rt/client/objects/event.h"

namespace gt::virt {

// Contents that come in parts: who passes them on need not wait for the last one.
struct Arrival {
  std::vector<Ref<_cl_event>> parts;  // of each: it is there. Empty: all come at a time
};

// Where the contents of a root are. Until a first command writes them they are nowhere, which is as good as anywhere.
struct Residency {
  explicit Residency(size_t sub_contexts)
      : valid(sub_contexts),
        ready(sub_contexts),
        arrivals(sub_contexts),
        passed_on(sub_contexts),
        peer_mapped(sub_contexts) {}
  // If the move there has ended well, nobody needs to know of it any more.
  void look_at(size_t place);
  void has_arrived(size_t place) {
    ready[place] = {};
    arrivals[place] = {};
  }
  // A command that writes the contents is about to be sent.
  void add_writer(const Ref<_cl_event>& event);
  // It has been sent, to the sub-context of this index: what was valid elsewhere is not any more.
  void written_at(size_t place);

  std::vector<bool> valid;
  std::vector<Ref<_cl_event>> ready;    // by sub-context: the move that brings them there; none: they are there
  std::vector<std::shared_ptr<const Arrival>> arrivals;  // by sub-context: with ready, if they go from proxy to proxy
  std::vector<unsigned> passed_on;      // by sub-context: to how many proxies it sends them
  std::vector<Ref<_cl_event>> writers;  // commands that may still write them
  size_t most_writers = 0;              // as soon as there are so many, those that have ended are dropped
  // By sub-context: what it lives in (transfer/peer_mapped.h); none: the driver's memory.
  std::vector<std::shared_ptr<PeerMemory>> peer_mapped;
  unsigned unmapped_moves = 0;  // from device to device of this process
  bool has_parts = false;       // objects that share its memory: it cannot live elsewhere
};

bool have_ended(const std::vector<Ref<_cl_event>>& events);

}  // namespace gt::virt
