#include "optimizer-rt/client/transfer/transfer.h"

#include <memory>
#include <utility>
#include <vector>

#include "optimizer-rt/client/base/gate.h"
#include "optimizer-rt/client/base/optimizer.h"
#include "optimizer-rt/client/objects/arrivals.h"
#include "optimizer-rt/client/objects/context.h"
#include "transport/staging/node_copy.h"
#include "transport/staging/program_faults.h"

namespace gt::virt {
namespace {

using wire::Carriage;

// Where memory can be shared, what is larger is there sooner through the bounce ring: measured on an H200's host
// (docs/measurements/remote.md).
constexpr size_t SharedOut = size_t{512} << 10;  // copies from here on
constexpr size_t InlineReads = size_t{4} << 10, InlineWrites = size_t{16} << 10;

size_t largest_inline(const Session& session, size_t where_shared) {
  return session.shares_memory() ? where_shared : wire::LargestInline;
}

// Bytes that a driver would take from, or bring to, the program's memory with one thread, one after the other, and the
// program's own handler makes pages present for that: they are copied here (program_faults.h).
bool faults_when_read(const void* from, size_t bytes) {
  return staging::faults_are_handled() && !staging::is_readable(from, bytes);
}
bool faults_when_written(void* to, size_t bytes) {
  return staging::faults_are_handled() && !staging::is_writable(to, bytes);
}

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

// Where the executor sees bytes that are here.
struct Seen {
  Carriage carriage;
  wire::Address at;
};
template <class Message>
void say_where(Message& m, const Seen& seen) {
  m.carriage = seen.carriage;
  m.segment = seen.at.segment;
  m.offset = seen.at.offset;
}

// Packed bytes of ours for the time of a transfer.
struct Packed {
  std::shared_ptr<uint8_t[]> bytes;
  std::optional<Seen> seen;
};

// Nothing: there is no ring, or no room in it.
Packed bounce(Session& session, size_t bytes) {
  Bounce::Room room = session.bounce().take(bytes);
  return {std::move(room.bytes), Seen{Carriage::Ring, {0, room.offset}}};
}

Packed make_packed(Session& session, size_t bytes) {
  if (Packed packed = bounce(session, bytes); packed.bytes) return packed;
  Packed packed{std::make_shared<uint8_t[]>(bytes), {}};
  const auto at = session.link().shared_address(packed.bytes.get(), bytes);
  if (at) packed.seen = Seen{Carriage::Shared, *at};
  return packed;
}

// A large copy is shared out.
void copy_in(uint8_t* to, const void* host, const HostLayout& l) {
  if (!l.dense() || packed_bytes(l) < SharedOut) return pack(to, host, l);
  staging::copy_in_node(to, static_cast<const uint8_t*>(host) + l.offset, packed_bytes(l));
}
void copy_out(void* host, const uint8_t* from, const HostLayout& l) {
  if (!l.dense() || packed_bytes(l) < SharedOut) return unpack(host, from, l);
  staging::copy_in_node(static_cast<uint8_t*>(host) + l.offset, from, packed_bytes(l));
}

// Where the executor reads or writes the memory itself until the event has completed; nowhere: it cannot.
std::optional<Seen> seen_directly(Session& session, const void* p, size_t bytes, _cl_event& event) {
  if (session.shares_memory()) {
    Exposures& exposures = session.exposures();
    if (const auto address = exposures.use(session.link(), p, bytes)) {
      event.then([&exposures, segment = address->segment](cl_int) { exposures.let_go(segment); });
      return Seen{Carriage::Shared, *address};
    }
    if (exposures.cover(p)) return {};
  }
  const auto address = session.link().shared_address(p, bytes);  // the program's view of a map, or all of a process
  if (address && session.shares_memory() && optimizer()) optimizer()->moved(p, bytes);
  return address ? std::optional(Seen{Carriage::Shared, *address}) : std::nullopt;
}

void write_inline(const Transfer& t, const void* host, wire::Write m) {
  std::vector<uint8_t> packed;
  const auto* from = static_cast<const uint8_t*>(host) + t.layout.offset;
  if (!t.layout.dense()) {
    packed.resize(m.bytes);
    pack(packed.data(), host, t.layout);
    from = packed.data();
  }
  staging::touch(from, m.bytes);  // the program's handler for that runs here, not where the link has a lock
  m.data = {from, m.bytes};
  t.place.session.send(m, true);
}

// The executor reads the memory itself: it must stay until the event has completed. `held`: it is ours.
void write_in_place(const Transfer& t, const Seen& seen, wire::Write m, _cl_event& event,
                    std::shared_ptr<const void> held, Until until) {
  const bool captured = held != nullptr;
  say_where(m, seen);
  event.told_unasked();
  if (held) {
    event.keep();
    event.landing = [held = std::move(held)] {};
  }
  t.place.session.send(m, until == Until::Sent || !captured);
  if (until == Until::Captured && !captured) event.wait();
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
  const Packed packed = layout.dense() ? Packed{} : make_packed(session, m.bytes);
  const std::shared_ptr<uint8_t[]> held = packed.bytes;
  const auto* const from = held ? held.get() : static_cast<const uint8_t*>(host) + layout.offset;
  const auto take = [held, host, layout, keeps] {
    if (held) pack(held.get(), host, layout);
  };
  if (const auto seen = held ? packed.seen : seen_directly(session, from, m.bytes, event)) {
    const Ref<_cl_event> landed = make<_cl_event>(*event.context);
    m.waits.push_back(landed->name_at(t.place));
    after_all(after, [landed, take](cl_int) {
      take();
      landed->complete(CL_COMPLETE, 0, 0);
    });
    write_in_place(t, *seen, std::move(m), event, held, Until::Sent);
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

bool writes_inline(const Session& session, size_t bytes) { return bytes <= largest_inline(session, InlineWrites); }

void send_write(const Transfer& t, const void* host, _cl_event* event, Until until,
                std::shared_ptr<const void> keeps) {
  auto m = begin<wire::Write>(t, event ? event->name : 0);
  if (t.after && write_behind(t, host, m, *event, until, keeps)) return;
  Session& session = t.place.session;
  const bool small = m.bytes <= wire::LargestInline;
  if (small && (!event || writes_inline(session, m.bytes))) return write_inline(t, host, std::move(m));
  const auto* from = static_cast<const uint8_t*>(host) + t.layout.offset;
  const bool dense = t.layout.dense() && (small || !faults_when_read(from, m.bytes));
  const auto seen = event && dense && !small ? seen_directly(session, from, m.bytes, *event) : std::nullopt;
  if (seen) return write_in_place(t, *seen, std::move(m), *event, nullptr, until);
  Packed packed = event ? bounce(session, m.bytes) : Packed{};
  if (!packed.bytes && small) return write_inline(t, host, std::move(m));
  if (!packed.bytes && dense) return write_stream(t, from, std::move(m), std::move(keeps), until);
  if (!packed.bytes) packed = make_packed(session, m.bytes);
  copy_in(packed.bytes.get(), host, t.layout);
  if (event && packed.seen) return write_in_place(t, *packed.seen, std::move(m), *event, packed.bytes, until);
  write_stream(t, packed.bytes.get(), std::move(m), packed.bytes, until);
}

void send_read(const Transfer& t, void* host, _cl_event& event) {
  Session& session = t.place.session;
  auto m = begin<wire::Read>(t, event.name);
  const HostLayout layout = t.layout;
  event.keep();
  event.late = true;
  event.told_unasked();
  const auto lands_late = [&](Arrivals::By by) {
    return !event.lands_after.empty() && arrivals().could_overtake(event.bringer(), by, host, layout.extent());
  };
  const bool small = m.bytes <= wire::LargestInline;
  Packed packed = small && m.bytes > largest_inline(session, InlineReads) ? bounce(session, m.bytes) : Packed{};
  if (small && !packed.bytes) {
    _cl_event* const late = lands_late(Arrivals::By::Us) ? &event : nullptr;
    session.expect_data(event.name, [host, layout, late](ByteView bytes) {
      if (bytes.size() != packed_bytes(layout)) return;
      if (!late) return unpack(host, bytes.data(), layout);
      late->landing = [host, layout, held = Bytes(bytes.begin(), bytes.end())] { unpack(host, held.data(), layout); };
    });
    return session.send(m, true);
  }
  auto* to = static_cast<uint8_t*>(host) + layout.offset;
  const bool faults = layout.dense() && !small && faults_when_written(to, m.bytes);
  const auto directly = layout.dense() && !small && !faults ? seen_directly(session, to, m.bytes, event) : std::nullopt;
  const auto by = directly ? Arrivals::By::Device : Arrivals::By::Link;
  if (!directly && !small) packed = bounce(session, m.bytes);
  const bool by_us = packed.bytes || !layout.dense() || faults || lands_late(by);
  if (by_us) {
    if (!packed.bytes) packed = make_packed(session, m.bytes);
    to = packed.bytes.get();
    event.landing = [host, layout, held = packed.bytes] { copy_out(host, held.get(), layout); };
  } else {
    if (event.arrives) arrivals().comes_by(event, by);
  }
  const auto seen = by_us ? packed.seen : directly;
  const std::shared_ptr<const void> held = packed.bytes;
  if (seen) {
    say_where(m, *seen);
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
