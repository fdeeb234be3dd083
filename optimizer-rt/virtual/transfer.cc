#include "optimizer-rt/virtual/transfer.h"

#include <memory>
#include <utility>
#include <vector>

#include "optimizer-rt/virtual/arrivals.h"
#include "optimizer-rt/virtual/context.h"
#include "optimizer-rt/virtual/gate.h"
#include "optimizer-rt/virtual/moves.h"

namespace gt::virt {
namespace {

using wire::Carriage;

template <class Message>
Message begin(const Transfer& t, ObjectId event) {
  Message m;
  m.queue = t.queue;
  m.mem = t.mem;
  m.event = event;
  m.part = t.part;
  m.bytes = packed_bytes(t.layout);
  m.waits = t.waits;
  return m;
}

// Packed memory of ours for the time of a transfer.
using Packed = std::shared_ptr<std::vector<uint8_t>>;
Packed make_packed(const HostLayout& l) { return std::make_shared<std::vector<uint8_t>>(packed_bytes(l)); }

// The address by which the executor reads or writes the memory itself until the event has completed; none: it cannot.
std::optional<wire::Address> direct_address(Session& session, const void* p, size_t bytes, _cl_event& event) {
  if (session.shares_memory()) {
    Exposures& exposures = session.exposures();
    if (const auto address = exposures.use(session.link(), p, bytes)) {
      event.then([&exposures, segment = address->segment](cl_int) { exposures.let_go(segment); });
      return address;
    }
    if (exposures.cover(p)) return {};
  }
  const auto address = session.link().shared_address(p, bytes);  // the program's view of a map, or all of a process
  if (address && session.shares_memory() && optimizer()) optimizer()->moved(p, bytes);
  return address;
}

void write_inline(const Transfer& t, const void* host, wire::Write m) {
  std::vector<uint8_t> packed;
  const auto* from = static_cast<const uint8_t*>(host) + t.layout.offset;
  if (!t.layout.dense()) {
    packed.resize(m.bytes);
    pack(packed.data(), host, t.layout);
    from = packed.data();
  }
  m.data = {from, m.bytes};
  t.place.session.send(m, true);
}

// The executor reads the memory itself: it must stay until the event has completed.
void write_shared(const Transfer& t, wire::Address at, wire::Write m, _cl_event* event, Packed held, Until until) {
  m.carriage = Carriage::Shared;
  m.segment = at.segment;
  m.offset = at.offset;
  if (event) event->told_unasked();
  t.place.session.send(m, until == Until::Sent || !held);
  if (held) event->then([held](cl_int) {});
  if (until == Until::Captured && !held) event->wait();
}

void write_stream(const Transfer& t, const uint8_t* from, wire::Write m, std::shared_ptr<const void> held,
                  Until until) {
  Outbox& outbox = t.place.session.outbox();
  m.carriage = Carriage::Stream;
  m.transfer = t.place.session.new_transfer();
  m.chunk_bytes = outbox.chunk_bytes(m.bytes);
  t.place.session.send(m);
  if (until == Until::Sent || held) return outbox.stream(m.transfer, t.part, t.element, from, [held] {});
  Gate captured;
  outbox.stream(m.transfer, t.part, t.element, from, [&captured] { captured.open(); });
  captured.wait();
  require(t.place.session.alive(), CL_DEVICE_NOT_AVAILABLE);
}

// What executor and driver see of bytes that are not there yet: they are read in place behind an event of ours, or sent
// when they have come. False: nobody says when that is, and nothing can read them in place.
bool write_behind(const Transfer& t, const void* host, wire::Write m, _cl_event& event, Until until,
                  std::shared_ptr<const void> keeps) {
  Session& session = t.place.session;
  const std::vector<Ref<_cl_event>> after = *t.after;  // the event's own go when it ends
  const HostLayout layout = t.layout;
  const Packed held = layout.dense() ? nullptr : make_packed(layout);
  const auto* const from = held ? held->data() : static_cast<const uint8_t*>(host) + layout.offset;
  const auto take = [held, host, layout, keeps] {
    if (held) pack(held->data(), host, layout);
  };
  if (const auto at = direct_address(session, from, m.bytes, event)) {
    const Ref<_cl_event> landed = make<_cl_event>(*event.context);
    m.waits.push_back(landed->name_at(t.place));
    after_all(after, [landed, take](cl_int) {
      take();
      landed->complete(CL_COMPLETE, 0, 0);
    });
    write_shared(t, *at, std::move(m), &event, held, Until::Sent);
    if (until == Until::Captured) event.wait();
    return true;
  }
  if (after.empty()) return false;
  Outbox& outbox = session.outbox();
  m.carriage = Carriage::Stream;
  m.transfer = session.new_transfer();
  m.chunk_bytes = outbox.chunk_bytes(m.bytes);
  const auto captured = std::make_shared<Gate>();
  session.send(m, true);
  after_all(after, [&outbox, take, captured, from, m = m.transfer, part = t.part, element = t.element](cl_int) {
    take();
    outbox.stream(m, part, element, from, [take, captured] { captured->open(); });
  });
  if (until == Until::Sent) return true;
  captured->wait();
  require(session.alive(), CL_DEVICE_NOT_AVAILABLE);
  return true;
}

}  // namespace

void send_write(const Transfer& t, const void* host, _cl_event* event, Until until,
                std::shared_ptr<const void> keeps) {
  auto m = begin<wire::Write>(t, event ? event->name : 0);
  if (t.after && write_behind(t, host, m, *event, until, keeps)) return;
  if (m.bytes <= wire::LargestInline) return write_inline(t, host, std::move(m));
  Packed held;
  const auto* from = static_cast<const uint8_t*>(host) + t.layout.offset;
  if (!t.layout.dense()) {
    held = make_packed(t.layout);
    pack(held->data(), host, t.layout);
    from = held->data();
  }
  const auto shared = event ? direct_address(t.place.session, from, m.bytes, *event) : std::nullopt;
  if (shared) return write_shared(t, *shared, std::move(m), event, std::move(held), until);
  write_stream(t, from, std::move(m), held ? std::move(held) : std::move(keeps), until);
}

void send_read(const Transfer& t, void* host, _cl_event& event) {
  Session& session = t.place.session;
  auto m = begin<wire::Read>(t, event.name);
  const HostLayout layout = t.layout;
  event.keep();
  event.late = true;
  event.told_unasked();
  const auto lands_late = [&](Arrivals::By by) {
    return !event.lands_after.empty() && arrivals().could_overtake(event, by, host, layout.extent());
  };
  if (m.bytes <= wire::LargestInline) {
    _cl_event* const late = lands_late(Arrivals::By::Us) ? &event : nullptr;
    session.expect_data(event.name, [host, layout, late](ByteView bytes) {
      if (bytes.size() != packed_bytes(layout)) return;
      if (!late) return unpack(host, bytes.data(), layout);
      late->landing = [host, layout, held = Bytes(bytes.begin(), bytes.end())] { unpack(host, held.data(), layout); };
    });
    return session.send(m, true);
  }
  auto* to = static_cast<uint8_t*>(host) + layout.offset;
  Packed held;
  auto shared = layout.dense() ? direct_address(session, to, m.bytes, event) : std::nullopt;
  const auto by = shared ? Arrivals::By::Device : Arrivals::By::Link;
  if (layout.dense() && !lands_late(by)) {
    arrivals().comes_by(event, by);
  } else {
    held = make_packed(layout);
    to = held->data();
    event.landing = [host, layout, held] { unpack(host, held->data(), layout); };
    shared = direct_address(session, to, m.bytes, event);
  }
  if (shared) {
    m.carriage = Carriage::Shared;
    m.segment = shared->segment;
    m.offset = shared->offset;
    // Commands at other places do not see for themselves when it is there.
    const bool alone = t.place.context.one_place();
    event.late = event.late && (held || !event.lands_after.empty() || !alone);
    return session.send(m, true);
  }
  wire::Link& link = session.link();
  const Result<wire::SegmentId> segment = link.expose(to, m.bytes);
  require(segment.ok(), session.in_reach() ? CL_OUT_OF_HOST_MEMORY : CL_DEVICE_NOT_AVAILABLE);
  m.carriage = Carriage::Stream;
  m.segment = *segment;
  m.transfer = session.new_transfer();
  m.chunk_bytes = session.outbox().chunk_bytes(m.bytes);
  session.send(m, true);
  event.then([&link, id = *segment, held](cl_int) { (void)link.withdraw(id).ok(); });
}

}  // namespace gt::virt
