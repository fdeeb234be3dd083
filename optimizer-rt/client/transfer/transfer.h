// Bytes between the program's memory and a memory object at a sub-context: inline, in shared memory, or in chunks.
//
// Thread safety: any thread; no handler of a link, since a write may wait. Throws a Failure when the link is closed.
#pragma once

#include <memory>

#include "optimizer-rt/client/memory/mem.h"
#include "optimizer-rt/client/objects/event.h"
#include "transport/copy/packed.h"
#include "transport/protocol/messages.h"

namespace gt::virt {

// One transfer, in names of its sub-context.
struct Transfer {
  SubContext& sub_context;
  ObjectId queue;
  ObjectId mem;
  copy::Region part;
  size_t element;      // bytes of the part's elements
  copy::Layout layout;   // of the part in the host's memory
  const Ids& waits;
  // Of a write whose bytes are still on their way to the host's memory: there when these have ended; none: it does not
  // come after what brings them.
  const std::vector<Ref<_cl_event>>* after = nullptr;
  bool ours = false;  // the host's memory is ours: no handler of the program's makes its pages present
};

// What must end before the program may go on.
enum class Until { Sent, Captured };

// Whether so many bytes to a device go inside the message; more need an event.
bool writes_inline(const Session& session, size_t bytes);
// To the device. `event`: of the command, or nullptr (not with `after`). Captured: the memory may change when this
// returns. `keeps`: what the memory is part of; let go when the link does not need it any more, which may be after the
// event has completed.
void send_write(const Transfer& t, const void* host, _cl_event* event, Until until,
                std::shared_ptr<const void> keeps = nullptr);
// From the device; the bytes are there when the event has completed.
void send_read(const Transfer& t, void* host, _cl_event& event);

}  // namespace gt::virt
