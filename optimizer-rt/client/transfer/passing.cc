#include "optimizer-rt/client/transfer/passing.h"

#include <algorithm>

#include "optimizer-rt/client/objects/queue.h"
#include "optimizer-rt/client/session/bulk_sender.h"
#include "optimizer-rt/client/session/peering.h"
#include "optimizer-rt/client/transfer/migration_counts.h"
#include "optimizer-rt/client/transfer/transfer.h"

namespace gt::virt {
namespace {

// Small enough that the next proxy does not wait long for the first, and that a message for each costs nothing.
constexpr uint64_t PartBytes = uint64_t{4} << 20;
// That are under way at a time: while one arrives, it is told of and the next are sent.
constexpr uint64_t Window = 4;

copy::Layout dense(const _cl_mem& mem) {
  const copy::Region part = mem.whole();
  return {0, part.region[0] * mem.element(), part.region[1], part.region[2]};
}

uint64_t part_bytes(const _cl_mem& root) {
  return Passing::parts_of(root) > 1 ? PartBytes : copy::packed_bytes(dense(root));
}

std::shared_ptr<const Arrival> arrival_of(const _cl_mem& root, uint64_t parts) {
  auto arrival = std::make_shared<Arrival>();
  for (uint64_t i = 0; parts > 1 && i < parts; ++i) arrival->parts.push_back(make<_cl_event>(*root.context));
  return arrival;
}

}  // namespace

// Two proxies have no chain.
uint64_t Passing::parts_of(const _cl_mem& root) {
  const auto& places = root.context->sub_contexts;
  const auto elsewhere =
      std::count_if(places.begin(), places.end(), [](const auto& p) { return !p->session.in_process(); });
  const copy::Chunks parts(root.whole(), root.element(), PartBytes);
  return elsewhere > 2 && parts.valid() ? parts.count() : 1;
}

Passing::Passing(_cl_mem& root, const PassingSource& source, SubContext& to)
    : mem_(&root),
      source_(source),
      to_(to),
      from_name_(root.at(*source.place)),
      origin_name_(root.at(*source.origin)),
      to_name_(root.at(to)),
      layout_(dense(root)),
      parts_(root.whole(), root.element(), part_bytes(root)),
      ready_(make<_cl_event>(*root.context)),
      arrival_(arrival_of(root, parts_.count())) {}

void Passing::start() {
  when_peered(source_.place->session, to_.session, [self = shared_from_this()](uint32_t peer) {
    if (peer == 0) return self->relay();
    for (uint64_t i = 0; i < Window; ++i) self->next(peer);
  });
}

// The next part, if nothing has gone wrong.
void Passing::next(uint32_t peer) {
  uint64_t part = 0;
  {
    const MutexLock lock(mutex_);
    if (failed_ || begun_ == parts_.count()) return;
    part = begun_++;
    ++under_way_;
  }
  if (!source_.arrival || source_.arrival->parts.empty()) return send(part, peer);
  after_all({source_.arrival->parts[part]}, [self = shared_from_this(), part, peer](cl_int status) {
    status == CL_COMPLETE ? self->send(part, peer) : self->passed(part, peer, status, Fault::Before);
  });
}

// From executor to executor. When it is there the receiver says so; what the sender says is of no interest.
void Passing::send(uint64_t part, uint32_t peer) {
  try {
    const Ref<_cl_event> sent = make<_cl_event>(*mem_->context, *source_.place),
                         come = make<_cl_event>(*mem_->context, to_);
    come->then([self = shared_from_this(), part, peer, come](cl_int status) { self->passed(part, peer, status); });
    auto read = half<wire::Read>(part, peer);
    read.queue = source_.place->peer_queue();
    read.mem = from_name_;
    read.event = sent->name;
    auto write = half<wire::Write>(part, peer);
    write.queue = to_.peer_queue();
    write.mem = to_name_;
    write.event = come->name;
    write.transfer = read.transfer = to_.session.new_transfer();
    to_.session.send(write);
    come->subscribe();
    to_.session.push();
    source_.place->session.send(read);
  } catch (const Failure& failure) {
    passed(part, peer, failure.code);
  } catch (const std::bad_alloc&) {
    passed(part, peer, CL_OUT_OF_HOST_MEMORY);
  }
}

template <class Message>
Message Passing::half(uint64_t part, uint32_t peer) const {
  const copy::Chunks::Chunk chunk = parts_.at(part);
  Message m;
  m.part = chunk.part;
  m.bytes = chunk.bytes;
  m.data_path = wire::DataPath::Peer;
  m.segment = peer;
  m.chunk_bytes = std::min(source_.place->session.bulk_sender().chunk_bytes(m.bytes),
                           to_.session.bulk_sender().chunk_bytes(m.bytes));
  return m;
}

// What is wrong with the link between them is nothing that the program needs to know: when nothing is under way any
// more that could come behind what goes through us, all of it does.
void Passing::passed(uint64_t part, uint32_t peer, cl_int status, Fault fault) {
  bool whole = false, over = false, link_failed = false;
  {
    const MutexLock lock(mutex_);
    --under_way_;
    failed_ = failed_ || status != CL_COMPLETE;
    link_failed_ = link_failed_ || (status != CL_COMPLETE && fault == Fault::Link);
    done_ += status == CL_COMPLETE;
    whole = done_ == parts_.count();
    over = failed_ && under_way_ == 0;
    link_failed = link_failed_;
  }
  if (status == CL_COMPLETE && !arrival_->parts.empty()) arrival_->parts[part]->complete(status, 0, 0);
  if (whole) {
    migration_counts().direct.add(parts_.bytes());
    return complete(CL_COMPLETE);
  }
  if (!over) return next(peer);
  if (link_failed) gt::virt::part(source_.place->session, to_.session);
  relay();
}

void Passing::relay() {
  migration_counts().relayed.add(parts_.bytes());
  if (!source_.origin_ready) return read();
  after_all({source_.origin_ready}, [self = shared_from_this()](cl_int) { self->read(); });
}

void Passing::read() {
  guard([this] {
    SubContext& from = *source_.origin;
    bytes_.resize(copy::packed_bytes(layout_));
    const Ref<_cl_event> event = make<_cl_event>(*mem_->context, from);
    const Ids none;
    send_read({from, from.service_queue(), origin_name_, mem_->whole(), mem_->element(), layout_, none}, bytes_.data(),
              *event);
    event->then([self = shared_from_this(), event](cl_int status) { self->write(status); });
    event->subscribe();
  });
}

void Passing::write(cl_int status) {
  if (status != CL_COMPLETE) return complete(status);
  guard([this] {
    const Ref<_cl_event> event = make<_cl_event>(*mem_->context, to_);
    const Ids none;
    send_write({to_, to_.service_queue(), to_name_, mem_->whole(), mem_->element(), layout_, none}, bytes_.data(),
               event.get(), Until::Sent, shared_from_this());
    event->then([self = shared_from_this(), event](cl_int s) { self->complete(s); });
    event->subscribe();
  });
}

void Passing::complete(cl_int status) {
  for (const Ref<_cl_event>& part : arrival_->parts) part->complete(status, 0, 0);  // no more of those that are there
  ready_->complete(status, 0, 0);
}

void Passing::guard(const std::function<void()>& step) {
  try {
    step();
  } catch (const Failure& failure) {
    complete(failure.code);
  } catch (const std::bad_alloc&) {
    complete(CL_OUT_OF_HOST_MEMORY);
  }
}

}  // namespace gt::virt
