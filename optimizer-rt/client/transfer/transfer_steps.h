// What send_write.cc and send_read.cc have in common: facts, messages, memory that the executor addresses.
//
// Thread safety: as transfer.h.
#pragma once

#include <memory>
#include <optional>

#include "optimizer-rt/client/session/bulk_sender.h"
#include "optimizer-rt/client/transfer/transfer.h"
#include "optimizer-rt/client/transfer/transfer_mode.h"
#include "transport/protocol/messages.h"

namespace gt::virt {

// Copies from here on are shared out.
constexpr size_t SharedOut = size_t{512} << 10;

// What is known before anything is tried.
TransferFacts facts_of(const Transfer& t);

template <class Message>
Message begin(const Transfer& t, ObjectId event) {
  Message m;
  m.queue = t.queue;
  m.mem = t.mem;
  m.event = event;
  m.part = t.part;
  m.bytes = copy::packed_bytes(t.layout);
  m.waits = t.waits;
  return m;
}

// Where the executor sees bytes that are here.
struct Seen {
  wire::DataPath data_path;
  wire::Address at;
};
template <class Message>
void say_where(Message& m, const Seen& seen) {
  m.data_path = seen.data_path;
  m.segment = seen.at.segment;
  m.offset = seen.at.offset;
}

template <class Message>
void say_stream(Session& session, Message& m) {
  m.data_path = wire::DataPath::Stream;
  m.transfer = session.new_transfer();
  m.chunk_bytes = session.bulk_sender().chunk_bytes(m.bytes);
}

// Where the executor reads or writes the memory itself until the event has completed; nowhere: it cannot.
std::optional<Seen> seen_directly(Session& session, const void* p, size_t bytes, _cl_event& event);

// For the packed bytes of a transfer.
std::shared_ptr<uint8_t[]> new_copy(const Transfer& t);

}  // namespace gt::virt
