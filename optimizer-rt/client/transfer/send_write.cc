// Writes: a function for each mode (transfer_mode.h). One that turns out not to be possible gives false, and has sent
// nothing.
#include <memory>
#include <utility>
#include <vector>

#include "optimizer-rt/client/base/latch.h"
#include "optimizer-rt/client/objects/context.h"
#include "optimizer-rt/client/transfer/shared_pages.h"
#include "optimizer-rt/client/transfer/transfer_steps.h"
#include "transport/staging/node_copy.h"
#include "transport/staging/program_faults.h"

namespace gt::virt {
namespace {

using wire::DataPath;

// Bytes that a driver would take with one thread, one after the other, and the program's own handler makes pages
// present for that: they are copied here (program_faults.h).
bool faults_when_read(const Transfer& t, const void* from, size_t bytes) {
  return !t.ours && staging::faults_are_handled() && !staging::is_readable(from, bytes);
}

void copy_in(uint8_t* to, const void* host, const copy::Layout& l) {
  if (!l.dense() || copy::packed_bytes(l) < SharedOut) return copy::pack(to, host, l);
  staging::copy_in_node(to, static_cast<const uint8_t*>(host) + l.offset, copy::packed_bytes(l));
}

struct Writing {
  const Transfer& t;
  const void* host;
  _cl_event* event;
  Until until;
  std::shared_ptr<const void> keeps;
  wire::Write m;
  bool late = false;                    // as choose_late_write() says: its bytes are there when `after` have ended
  std::vector<Ref<_cl_event>> after{};  // the event's own go when it ends
  Ref<_cl_event> landed{};              // ends when they have; its name is known there until the write is sent
  std::shared_ptr<uint8_t[]> copy{};    // SharedCopy, StreamCopy: the packed bytes

  Session& session() const { return t.sub_context.session; }
  const uint8_t* from() const { return static_cast<const uint8_t*>(host) + t.layout.offset; }
};

// What is to be done when the bytes of a late write are there. `held`: where they are packed; nullptr: nowhere.
auto take_later(const Writing& w, std::shared_ptr<uint8_t[]> held) {
  return [held = std::move(held), host = w.host, layout = w.t.layout, keeps = w.keeps] {
    if (held) copy::pack(held.get(), host, layout);
  };
}

// Executor and driver see an event of ours that ends when the bytes are there.
void wait_for_bytes(Writing& w, std::shared_ptr<uint8_t[]> held) {
  w.landed = make<_cl_event>(*w.event->context);
  w.m.waits.push_back(w.landed->name_at(w.t.sub_context));
  after_all(w.after, [landed = w.landed, take = take_later(w, std::move(held))](cl_int) {
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
    copy::pack(packed.data(), w.host, t.layout);
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
  w.event->on_completion = [held] {};
  w.session().send(w.m, w.late || w.until == Until::Sent);
  if (w.late && w.until == Until::Captured) w.event->wait();
}

bool write_through_ring(Writing& w) {
  const BounceBuffer::Room room = w.session().bounce_buffer().take(w.m.bytes);
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
  BulkSender& bulk_sender = w.session().bulk_sender();
  const auto captured = std::make_shared<Latch>();
  w.session().send(w.m, true);
  after_all(w.after, [&bulk_sender, take = take_later(w, w.copy), captured, from, m = w.m.transfer, part = w.t.part,
                      element = w.t.element](cl_int) {
    take();
    bulk_sender.stream(m, part, element, from, [take, captured] { captured->open(); });
  });
  if (w.until == Until::Sent) return;
  captured->wait();
  require(w.session().alive(), CL_DEVICE_NOT_AVAILABLE);
}

// `held`: what keeps the memory from changing; nullptr: nothing does.
void stream_now(Writing& w, const uint8_t* from, const std::shared_ptr<const void>& held) {
  BulkSender& bulk_sender = w.session().bulk_sender();
  w.session().send(w.m);
  if (w.until == Until::Sent || held) return bulk_sender.stream(w.m.transfer, w.t.part, w.t.element, from, [held] {});
  Latch captured;
  bulk_sender.stream(w.m.transfer, w.t.part, w.t.element, from, [&captured] { captured.open(); });
  captured.wait();
  require(w.session().alive(), CL_DEVICE_NOT_AVAILABLE);
}

void write_stream(Writing& w) {
  say_stream(w.session(), w.m);
  w.late ? stream_late(w, w.from()) : stream_now(w, w.from(), w.keeps);
}

void write_stream_copy(Writing& w) {
  if (!w.copy) w.copy = w.session().bounce_buffer().take(w.m.bytes).bytes;  // without an event: memory like any other
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

}  // namespace

bool writes_inline(const Session& session, size_t bytes) {
  return bytes <= largest_inline_write(session.shares_memory());
}

void send_write(const Transfer& t, const void* host, _cl_event* event, Until until,
                std::shared_ptr<const void> keeps) {
  Writing w{t, host, event, until, std::move(keeps), begin<wire::Write>(t, event ? event->name : 0)};
  make_present(w.from(), t.layout.extent(), false);
  if (t.after && write_late(w)) return;
  TransferFacts facts = facts_of(t);
  facts.has_event = event != nullptr;
  facts.faults = facts.dense && facts.bytes > wire::LargestInline && faults_when_read(t, w.from(), facts.bytes);
  while (!write_by(choose_write(facts), w, facts)) {
  }
}

}  // namespace gt::virt
