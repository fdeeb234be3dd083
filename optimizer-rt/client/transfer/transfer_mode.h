// How the bytes of a transfer travel: the choice, as functions of facts. send_write.cc and send_read.cc gather the
// facts and do what is chosen. What can fail when it is done (a room in the ring, a mapping) is tried when it is
// chosen; after a failure the caller clears that fact and asks again, so the choice falls to the next row.
//
// The first row that holds is the mode. Small: bytes <= wire::LargestInline. Straight: dense, not `faults`, not
// `deferred`.
//
//   choose_write()                                                 choose_read()
//   Inline      small, and no event or <= largest_inline_write()   Inline      <= largest_inline_read()
//   InPlace     not small, event, straight, `maps_program`         InPlace     not small, straight, `maps_program`
//   Ring        <= BounceBuffer::Largest, event, `ring`            Ring        <= BounceBuffer::Largest, `ring`
//   Inline      small                                              Inline      small
//   Stream      straight                                           Stream      straight
//   SharedCopy  event, `maps_copy`                                 SharedCopy  `maps_copy`
//   StreamCopy  else                                               StreamCopy  else
//
//   choose_late_write(): an earlier command still brings the bytes to the program's memory. They are read in place, or
//   copied, behind its end. Neither size nor `faults` matters.
//   InPlace     dense, `maps_program`
//   Ring        not dense, <= BounceBuffer::Largest, `ring`
//   SharedCopy  not dense, `maps_copy`
//   Stream      dense, `end_known`
//   StreamCopy  not dense, `end_known`
//   none        else: the write does not wait, choose_write() decides
//
// Thread safety: pure functions. Cost: some comparisons; small transfers take 2 us in all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace gt::virt {

enum class TransferMode : uint8_t {
  Inline,      // in the message (a write), in the answer (a read)
  InPlace,     // the device reads or writes the program's memory, which the executor maps
  Ring,        // through a room in the executor's ring, in which the device reads or writes in place
  SharedCopy,  // through memory of ours, made for this transfer, that the executor maps
  Stream,      // in chunks, from or to the program's memory
  StreamCopy   // in chunks, from or to memory of ours, made for this transfer
};

struct TransferFacts {
  size_t bytes = 0;            // packed
  bool shares_memory = false;  // the executor is another process of this node
  bool has_event = true;       // the client learns when the command has ended; reads and late writes: always
  bool dense = true;           // the bytes are one range of the program's memory
  // The program's own handler makes pages of it present (program_faults.h): neither a driver nor the link touches them.
  bool faults = false;
  bool end_known = true;  // late writes: there are events that say when the bytes are there
  // --- Known when the mode is tried; until then, whether it is worth trying.
  bool deferred = false;     // reads: bytes that came straight could be overwritten by an earlier command's
  bool maps_program = true;  // the executor can address the program's memory
  bool ring = false;         // there is a ring, and room in it
  bool maps_copy = true;     // the executor can address memory that we make
};

// Where memory can be shared, what is larger is there sooner through the ring.
size_t largest_inline_write(bool shares_memory);
size_t largest_inline_read(bool shares_memory);

TransferMode choose_write(const TransferFacts& f);
std::optional<TransferMode> choose_late_write(const TransferFacts& f);
TransferMode choose_read(const TransferFacts& f);

}  // namespace gt::virt
