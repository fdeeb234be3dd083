// Reads: a function for each mode (transfer_mode.h). One that turns out not to be possible gives false, and has sent
// nothing.
#include <memory>
#include <utility>

#include "optimizer-rt/client/objects/context.h"
#include "optimizer-rt/client/objects/pending_host_writes.h"
#include "optimizer-rt/client/transfer/shared_pages.h"
#include "optimizer-rt/client/transfer/transfer_steps.h"
#include "transport/staging/node_copy.h"
#include "transport/staging/program_faults.h"

namespace gt::virt {
namespace {

using wire::DataPath;

// Likewise when a driver would bring bytes there: as with writes.
bool faults_when_written(const Transfer& t, void* to, size_t bytes) {
  return !t.ours && staging::faults_are_handled() && !staging::is_writable(to, bytes);
}

void copy_out(void* host, const uint8_t* from, const copy::Layout& l) {
  if (!l.dense() || copy::packed_bytes(l) < SharedOut) return copy::unpack(host, from, l);
  staging::copy_in_node(static_cast<uint8_t*>(host) + l.offset, from, copy::packed_bytes(l));
}

struct Reading {
  const Transfer& t;
  void* host;
  _cl_event& event;
  wire::Read m;
  std::shared_ptr<uint8_t[]> copy{};  // SharedCopy, StreamCopy: where the packed bytes come

  Session& session() const { return t.sub_context.session; }
  uint8_t* to() const { return static_cast<uint8_t*>(host) + t.layout.offset; }
  bool is_deferred(PendingHostWrites::By by) const {
    return !event.completes_after.empty() &&
           pending_host_writes().could_overtake(event.host_writer(), by, host, t.layout.extent());
  }
};

void read_inline(Reading& r) {
  _cl_event* const late = r.is_deferred(PendingHostWrites::By::Us) ? &r.event : nullptr;
  r.session().expect_data(r.event.name, [host = r.host, layout = r.t.layout, late](ByteView bytes) {
    if (bytes.size() != copy::packed_bytes(layout)) return;
    if (!late) return copy::unpack(host, bytes.data(), layout);
    late->on_completion = [host, layout, held = Bytes(bytes.begin(), bytes.end())] {
      copy::unpack(host, held.data(), layout);
    };
  });
  r.session().send(r.m, true);
}

bool read_in_place(Reading& r, TransferFacts& facts) {
  const auto seen = seen_directly(r.session(), r.to(), r.m.bytes, r.event);
  facts.maps_program = seen.has_value();
  facts.deferred = seen && r.is_deferred(PendingHostWrites::By::Device);
  if (!seen || facts.deferred) return false;
  if (r.event.writes_host_memory) pending_host_writes().comes_by(r.event, PendingHostWrites::By::Device);
  say_where(r.m, *seen);
  // Commands at other sub-contexts do not see for themselves when it is there.
  const bool alone = r.t.sub_context.context.one_sub_context();
  r.event.deferred = !r.event.completes_after.empty() || !alone;
  r.session().send(r.m, true);
  return true;
}

// The bytes find their places when the command ends here.
void unpack_from(Reading& r, std::shared_ptr<uint8_t[]> held) {
  r.event.on_completion = [host = r.host, layout = r.t.layout, held = std::move(held)] {
    copy_out(host, held.get(), layout);
  };
}

bool read_through_ring(Reading& r) {
  const BounceBuffer::Room room = r.session().bounce_buffer().take(r.m.bytes);
  if (!room.bytes) return false;
  unpack_from(r, room.bytes);
  say_where(r.m, {DataPath::Ring, {0, room.offset}});
  r.session().send(r.m, true);
  return true;
}

bool read_shared_copy(Reading& r) {
  r.copy = new_copy(r.t);
  const auto at = r.session().link().shared_address(r.copy.get(), r.m.bytes);
  if (!at) return false;
  unpack_from(r, r.copy);
  say_where(r.m, {DataPath::Shared, *at});
  r.session().send(r.m, true);
  return true;
}

// `held`: what `to` is part of; nullptr: of the program's memory.
void stream_to(Reading& r, uint8_t* to, std::shared_ptr<const void> held) {
  Session& session = r.session();
  wire::Link& link = session.link();
  const Result<wire::SegmentId> segment = link.expose(to, r.m.bytes);
  require(segment.ok(), session.in_reach() ? CL_OUT_OF_HOST_MEMORY : CL_DEVICE_NOT_AVAILABLE);
  r.m.segment = *segment;
  say_stream(session, r.m);
  if (const chunks::Packing packing = session.read_packing(); !packing.is_never()) {
    r.m.packing = packing.number();
    session.packed_reads().expect(r.m.transfer, r.m.event, to, {r.t.part, r.t.element, r.m.chunk_bytes});
  }
  session.send(r.m, true);
  r.event.then([&link, id = *segment, held = std::move(held)](cl_int) { (void)link.withdraw(id).ok(); });
}

bool read_stream(Reading& r, TransferFacts& facts) {
  facts.deferred = r.is_deferred(PendingHostWrites::By::Link);
  if (facts.deferred) return false;
  if (r.event.writes_host_memory) pending_host_writes().comes_by(r.event, PendingHostWrites::By::Link);
  stream_to(r, r.to(), nullptr);
  return true;
}

// REQUIRES: read_shared_copy() has made the copy.
void read_stream_copy(Reading& r) {
  unpack_from(r, r.copy);
  stream_to(r, r.copy.get(), r.copy);
}

// False: the mode is not possible, and the fact that spoke for it is changed.
bool read_by(TransferMode mode, Reading& r, TransferFacts& facts) {
  switch (mode) {
    case TransferMode::Inline: return read_inline(r), true;
    case TransferMode::InPlace: return read_in_place(r, facts);
    case TransferMode::Ring: return facts.ring = read_through_ring(r);
    case TransferMode::SharedCopy: return facts.maps_copy = read_shared_copy(r);
    case TransferMode::Stream: return read_stream(r, facts);
    case TransferMode::StreamCopy: return read_stream_copy(r), true;
  }
  return true;
}

}  // namespace

void send_read(const Transfer& t, void* host, _cl_event& event) {
  Reading r{t, host, event, begin<wire::Read>(t, event.name)};
  event.keep();
  event.deferred = true;
  event.auto_notify();
  make_present(r.to(), r.t.layout.extent(), true);
  TransferFacts facts = facts_of(t);
  facts.faults = facts.dense && facts.bytes > wire::LargestInline && faults_when_written(t, r.to(), facts.bytes);
  while (!read_by(choose_read(facts), r, facts)) {
  }
}

}  // namespace gt::virt
