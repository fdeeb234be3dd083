#include "optimizer-rt/client/transfer/transfer.h"

#include <memory>
#include <utility>
#include <vector>

#include "optimizer-rt/client/base/gate.h"
#include "optimizer-rt/client/base/optimizer.h"
#include "optimizer-rt/client/objects/arrivals.h"
#include "optimizer-rt/client/objects/context.h"
#include "optimizer-rt/client/transfer/transfer_mode.h"
#include "transport/staging/node_copy.h"
#include "transport/staging/program_faults.h"

namespace gt::virt {
namespace {

using wire::DataPath;

constexpr size_t SharedOut = size_t{512} << 10;  // copies from here on

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
  DataPath data_path;
  wire::Address at;
};
template <class Message>
void say_where(Message& m, const Seen& seen) {
  m.data_path = seen.data_path;
  m.segment = seen.at.segment;
  m.offset = seen.at.offset;
}

std::shared_ptr<uint8_t[]> new_copy(const Transfer& t) {
  return std::make_shared<uint8_t[]>(packed_bytes(t.layout));
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
      return Seen{DataPath::Shared, *address};
    }
    if (exposures.cover(p)) return {};
  }
  const auto address = session.link().shared_address(p, bytes);  // the program's view of a map, or all of a process
  if (address && session.shares_memory() && optimizer()) optimizer()->moved(p, bytes);
  return address ? std::optional(Seen{DataPath::Shared, *address}) : std::nullopt;
}

TransferFacts facts_of(const Transfer& t) {
  TransferFacts facts;
  facts.bytes = packed_bytes(t.layout);
  facts.shares_memory = t.place.session.shares_memory();
  facts.dense = t.layout.dense();
  facts.ring = t.place.session.bounce().is_open();
  return facts;
}

// --- Writes: a function for each mode. False: it is not possible, and nothing has been sent.

struct Writing {
  const Transfer& t;
  const void* host;
  _cl_event* event;
  Until until;
  std::shared_ptr<const void> keeps;
  wire::Write m;
  bool late = false;                    // as choose_late_write() says: its bytes are there when `after` have ended
  std::vector<Ref<_cl_event>> after{};  // the event's own go when it ends
  std::shared_ptr<uint8_t[]> copy{};    // SharedCopy, StreamCopy: the packed bytes

  Session& session() const { return t.place.session; }
  const uint8_t* from() const { return static_cast<const uint8_t*>(host) + t.layout.offset; }
};

// What is to be done when the bytes of a late write are there. `held`: where they are packed; nullptr: nowhere.
auto take_later(const Writing& w, std::shared_ptr<uint8_t[]> held) {
  return [held = std::move(held), host = w.host, layout = w.t.layout, keeps = w.keeps] {
    if (held) pack(held.get(), host, layout);
  };
}

// Executor and driver see an event of ours that ends when the bytes are there.
void wait_for_bytes(Writing& w, std::shared_ptr<uint8_t[]> held) {
  const Ref<_cl_event> landed = make<_cl_event>(*w.event->context);
  w.m.waits.push_back(landed->name_at(w.t.place));
  after_all(w.after, [landed, take = take_later(w, std::move(held))](cl_int) {
    take();
    landed->complete(CL_COMPLETE, 0, 0);
  });
}

void write_inline(Writing& w) {
  const Transfer& t = w.t;
  std::vector<uint8_t> packed;
  const uint8_t* from = w.from();
  if (!t.layout.dense()) {
    packed.resize(w.m.bytes);
    pack(packed.data(), w.host, t.layout);
    from = packed.data();
  }
  staging::touch(from, w.m.bytes);  // the program's handler for that runs here, not where the link has a lock
  w.m.data = {from, w.m.bytes};
  w.session().send(w.m, true);
}

// The executor reads the program's memory: it must stay until the event has completed.
bool write_in_place(Writing& w) {
  const auto seen = seen_directly(w.session(), w.from(), w.m.bytes, *w.event);
  if (!seen) return false;
  if (w.late) wait_for_bytes(w, nullptr);
  say_where(w.m, *seen);
  w.event->auto_notify();
  w.session().send(w.m, true);
  if (w.until == Until::Captured) w.event->wait();
  return true;
}

// The executor reads packed bytes of ours, which stay until the event has completed.
void write_from_copy(Writing& w, const std::shared_ptr<uint8_t[]>& held, const Seen& seen) {
  w.late ? wait_for_bytes(w, held) : copy_in(held.get(), w.host, w.t.layout);
  say_where(w.m, seen);
  w.event->auto_notify();
  w.event->keep();
  w.event->landing = [held] {};
  w.session().send(w.m, w.late || w.until == Until::Sent);
  if (w.late && w.until == Until::Captured) w.event->wait();
}

bool write_through_ring(Writing& w) {
  const Bounce::Room room = w.session().bounce().take(w.m.bytes);
  if (!room.bytes) return false;
  write_from_copy(w, room.bytes, {DataPath::Ring, {0, room.offset}});
  return true;
}

bool write_shared_copy(Writing& w) {
  if (!w.copy) w.copy = new_copy(w.t);
  const auto at = w.session().link().shared_address(w.copy.get(), w.m.bytes);
  if (!at) return false;
  write_from_copy(w, w.copy, {DataPath::Shared, *at});
  return true;
}

// The chunks begin when the bytes are there.
void stream_late(Writing& w, const uint8_t* from) {
  Outbox& outbox = w.session().outbox();
  const auto captured = std::make_shared<Gate>();
  w.session().send(w.m, true);
  after_all(w.after, [&outbox, take = take_later(w, w.copy), captured, from, m = w.m.transfer, part = w.t.part,
                      element = w.t.element](cl_int) {
    take();
    outbox.stream(m, part, element, from, [take, captured] { captured->open(); });
  });
  if (w.until == Until::Sent) return;
  captured->wait();
  require(w.session().alive(), CL_DEVICE_NOT_AVAILABLE);
}

// `held`: what keeps the memory from changing; nullptr: nothing does.
void stream_now(Writing& w, const uint8_t* from, const std::shared_ptr<const void>& held) {
  Outbox& outbox = w.session().outbox();
  w.session().send(w.m);
  if (w.until == Until::Sent || held) return outbox.stream(w.m.transfer, w.t.part, w.t.element, from, [held] {});
  Gate captured;
  outbox.stream(w.m.transfer, w.t.part, w.t.element, from, [&captured] { captured.open(); });
  captured.wait();
  require(w.session().alive(), CL_DEVICE_NOT_AVAILABLE);
}

template <class Message>
void say_stream(Session& session, Message& m) {
  m.data_path = DataPath::Stream;
  m.transfer = session.new_transfer();
  m.chunk_bytes = session.outbox().chunk_bytes(m.bytes);
}

void write_stream(Writing& w) {
  say_stream(w.session(), w.m);
  w.late ? stream_late(w, w.from()) : stream_now(w, w.from(), w.keeps);
}

void write_stream_copy(Writing& w) {
  if (!w.copy) w.copy = w.session().bounce().take(w.m.bytes).bytes;  // without an event: memory like any other
  if (!w.copy) w.copy = new_copy(w.t);
  if (!w.late) copy_in(w.copy.get(), w.host, w.t.layout);
  say_stream(w.session(), w.m);
  w.late ? stream_late(w, w.copy.get()) : stream_now(w, w.copy.get(), w.copy);
}

// False: the mode is not possible, and the fact that spoke for it is cleared.
bool write_by(TransferMode mode, Writing& w, TransferFacts& facts) {
  switch (mode) {
    case TransferMode::Inline: return write_inline(w), true;
    case TransferMode::InPlace: return facts.maps_program = write_in_place(w);
    case TransferMode::Ring: return facts.ring = write_through_ring(w);
    case TransferMode::SharedCopy: return facts.maps_copy = write_shared_copy(w);
    case TransferMode::Stream: return write_stream(w), true;
    case TransferMode::StreamCopy: return write_stream_copy(w), true;
  }
  return true;
}

// False: nobody says when the bytes are there, and nothing can read them in place.
bool write_late(Writing& w) {
  w.after = *w.t.after;
  w.late = true;
  TransferFacts facts = facts_of(w.t);
  facts.end_known = !w.after.empty();
  while (const auto mode = choose_late_write(facts)) {
    if (write_by(*mode, w, facts)) return true;
  }
  w.late = false;
  return false;
}

// --- Reads: likewise.

struct Reading {
  const Transfer& t;
  void* host;
  _cl_event& event;
  wire::Read m;
  std::shared_ptr<uint8_t[]> copy{};  // SharedCopy, StreamCopy: where the packed bytes come

  Session& session() const { return t.place.session; }
  uint8_t* to() const { return static_cast<uint8_t*>(host) + t.layout.offset; }
  bool lands_late(Arrivals::By by) const {
    return !event.lands_after.empty() && arrivals().could_overtake(event.bringer(), by, host, t.layout.extent());
  }
};

void read_inline(Reading& r) {
  _cl_event* const late = r.lands_late(Arrivals::By::Us) ? &r.event : nullptr;
  r.session().expect_data(r.event.name, [host = r.host, layout = r.t.layout, late](ByteView bytes) {
    if (bytes.size() != packed_bytes(layout)) return;
    if (!late) return unpack(host, bytes.data(), layout);
    late->landing = [host, layout, held = Bytes(bytes.begin(), bytes.end())] { unpack(host, held.data(), layout); };
  });
  r.session().send(r.m, true);
}

bool read_in_place(Reading& r, TransferFacts& facts) {
  const auto seen = seen_directly(r.session(), r.to(), r.m.bytes, r.event);
  facts.maps_program = seen.has_value();
  facts.lands_late = seen && r.lands_late(Arrivals::By::Device);
  if (!seen || facts.lands_late) return false;
  if (r.event.arrives) arrivals().comes_by(r.event, Arrivals::By::Device);
  say_where(r.m, *seen);
  // Commands at other places do not see for themselves when it is there.
  const bool alone = r.t.place.context.one_place();
  r.event.late = !r.event.lands_after.empty() || !alone;
  r.session().send(r.m, true);
  return true;
}

// The bytes find their places when the command ends here.
void land_from(Reading& r, std::shared_ptr<uint8_t[]> held) {
  r.event.landing = [host = r.host, layout = r.t.layout, held = std::move(held)] {
    copy_out(host, held.get(), layout);
  };
}

bool read_through_ring(Reading& r) {
  Bounce::Room room = r.session().bounce().take(r.m.bytes);
  if (!room.bytes) return false;
  land_from(r, std::move(room.bytes));
  say_where(r.m, {DataPath::Ring, {0, room.offset}});
  r.session().send(r.m, true);
  return true;
}

bool read_shared_copy(Reading& r) {
  r.copy = new_copy(r.t);
  const auto at = r.session().link().shared_address(r.copy.get(), r.m.bytes);
  if (!at) return false;
  land_from(r, r.copy);
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
  session.send(r.m, true);
  r.event.then([&link, id = *segment, held = std::move(held)](cl_int) { (void)link.withdraw(id).ok(); });
}

bool read_stream(Reading& r, TransferFacts& facts) {
  facts.lands_late = r.lands_late(Arrivals::By::Link);
  if (facts.lands_late) return false;
  if (r.event.arrives) arrivals().comes_by(r.event, Arrivals::By::Link);
  stream_to(r, r.to(), nullptr);
  return true;
}

// REQUIRES: read_shared_copy() has made the copy.
void read_stream_copy(Reading& r) {
  land_from(r, r.copy);
  stream_to(r, r.copy.get(), r.copy);
}

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

bool writes_inline(const Session& session, size_t bytes) {
  return bytes <= largest_inline_write(session.shares_memory());
}

void send_write(const Transfer& t, const void* host, _cl_event* event, Until until,
                std::shared_ptr<const void> keeps) {
  Writing w{t, host, event, until, std::move(keeps), begin<wire::Write>(t, event ? event->name : 0)};
  if (t.after && write_late(w)) return;
  TransferFacts facts = facts_of(t);
  facts.has_event = event != nullptr;
  facts.faults = facts.dense && facts.bytes > wire::LargestInline && faults_when_read(w.from(), facts.bytes);
  while (!write_by(choose_write(facts), w, facts)) {
  }
}

void send_read(const Transfer& t, void* host, _cl_event& event) {
  Reading r{t, host, event, begin<wire::Read>(t, event.name)};
  event.keep();
  event.late = true;
  event.auto_notify();
  TransferFacts facts = facts_of(t);
  facts.faults = facts.dense && facts.bytes > wire::LargestInline && faults_when_written(r.to(), facts.bytes);
  while (!read_by(choose_read(facts), r, facts)) {
  }
}

}  // namespace gt::virt
