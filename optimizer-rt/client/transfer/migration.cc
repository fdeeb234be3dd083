#include "optimizer-rt/client/transfer/migration.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <utility>

#include "optimizer-rt/client/base/serial_thread.h"
#include "optimizer-rt/client/objects/queue.h"
#include "optimizer-rt/client/session/peering.h"
#include "optimizer-rt/client/transfer/native_ways.h"
#include "optimizer-rt/client/transfer/peer_mapped.h"
#include "optimizer-rt/client/transfer/transfer.h"

namespace gt::virt {
namespace {

// One migration under way: from proxy to proxy, or through the client's memory, or (when there is a `way`) between two
// drivers of this process. Each step runs on a thread of ours, when what it waited for has ended; the commands at the
// destination wait for `ready`.
struct Migration : std::enable_shared_from_this<Migration> {
  Ref<_cl_mem> mem;
  SubContext *from, *to;
  ObjectId from_name, to_name;
  NativeWay* way = nullptr;
  NativeMem from_native, to_native;
  std::shared_ptr<PeerMemory> from_peer_mapped, to_peer_mapped;
  Ref<_cl_event> ready;
  copy::Layout layout;
  std::vector<uint8_t> bytes;

  void start() {
    if (!way) return start_elsewhere();
    count(migration_counts().here);
    mover(way->number).post([self = shared_from_this()] { self->move_natively(); });
  }
  NativeMoves::Held source() const { return {from_native.get(), from_peer_mapped.get()}; }
  NativeMoves::Held destination() const { return {to_native.get(), to_peer_mapped.get()}; }
  bool is_small() const { return NativeMoves::is_small(source(), destination(), copy::packed_bytes(layout)); }
  cl_int move_here() {
    const NativeMoves::Moved moved = way->moves.move(source(), destination(), mem->whole(), mem->element());
    if (moved.by_devices) count(migration_counts().device);
    return moved.code;
  }
  void move_natively() {
    const cl_int code = move_here();
    ready->complete(code == CL_SUCCESS ? CL_COMPLETE : code, 0, 0);
  }
  void start_elsewhere() {
    when_peered(from->session, to->session,
                [self = shared_from_this()](uint32_t peer) { peer != 0 ? self->pass(peer) : self->read(); });
  }
  // From executor to executor. When it is there the receiver says so; what the sender says is of no interest.
  void pass(uint32_t peer) {
    guard([&] {
      const Ref<_cl_event> sent = make<_cl_event>(*mem->context, *from), come = make<_cl_event>(*mem->context, *to);
      come->then([self = shared_from_this(), come](cl_int status) { self->passed(status); });
      auto read = half<wire::Read>(peer);
      read.queue = from->peer_queue();
      read.mem = from_name;
      read.event = sent->name;
      auto write = half<wire::Write>(peer);
      write.queue = to->peer_queue();
      write.mem = to_name;
      write.event = come->name;
      write.transfer = read.transfer = to->session.new_transfer();
      to->session.send(write);
      come->subscribe();
      to->session.push();
      from->session.send(read);
    });
  }
  template <class Message>
  Message half(uint32_t peer) const {
    Message m;
    m.part = mem->whole();
    m.bytes = copy::packed_bytes(layout);
    m.data_path = wire::DataPath::Peer;
    m.segment = peer;
    m.chunk_bytes =
        std::min(from->session.bulk_sender().chunk_bytes(m.bytes), to->session.bulk_sender().chunk_bytes(m.bytes));
    return m;
  }
  // What is wrong with the link between them is nothing that the program needs to know.
  void passed(cl_int status) {
    if (status == CL_COMPLETE) {
      count(migration_counts().direct);
      return ready->complete(status, 0, 0);
    }
    part(from->session, to->session);
    read();
  }
  void read() {
    count(migration_counts().relayed);
    guard([this] {
      bytes.resize(copy::packed_bytes(layout));
      const Ref<_cl_event> event = make<_cl_event>(*mem->context, *from);
      const Ids none;
      send_read({*from, from->service_queue(), from_name, mem->whole(), mem->element(), layout, none}, bytes.data(),
                *event);
      event->then([self = shared_from_this(), event](cl_int status) { self->write(status); });
      event->subscribe();
    });
  }
  void write(cl_int status) {
    if (status != CL_COMPLETE) return ready->complete(status, 0, 0);
    guard([this] {
      const Ref<_cl_event> event = make<_cl_event>(*mem->context, *to);
      const Ids none;
      send_write({*to, to->service_queue(), to_name, mem->whole(), mem->element(), layout, none}, bytes.data(),
                 event.get(), Until::Sent, shared_from_this());
      event->then([self = shared_from_this(), event](cl_int s) { self->ready->complete(s, 0, 0); });
      event->subscribe();
    });
  }
  void count(memory::MoveCounts::Way& taken) const {
    ++taken.moves;
    taken.bytes += copy::packed_bytes(layout);
  }
  template <class Step>
  void guard(Step step) {
    try {
      step();
    } catch (const Failure& failure) {
      ready->complete(failure.code, 0, 0);
    } catch (const std::bad_alloc&) {
      ready->complete(CL_OUT_OF_HOST_MEMORY, 0, 0);
    }
  }
};

// How contents get from one sub-context to another.
enum class Path : uint8_t {
  InProcess,         // of ours: from driver to driver, past the executors
  InExecutor,        // one elsewhere has both
  BetweenExecutors,  // directly where they are peers, else through our memory
};

Path path_between(const SubContext& from, const SubContext& to) {
  if (from.session.in_process() && to.session.in_process()) return Path::InProcess;
  return &from.session == &to.session ? Path::InExecutor : Path::BetweenExecutors;
}

// Where a command finds them soonest: in the same process, at a sub-context whose own move is over. None: how many
// there are.
size_t best_source(const _cl_mem& root, const SubContext& to) {
  const Residency& r = root.residency;
  const auto worth = [&](size_t i) {
    const SubContext& from = *root.context->sub_contexts[i];
    return (path_between(from, to) != Path::BetweenExecutors ? 2 : 0) + (r.ready[i] ? 0 : 1);
  };
  size_t best = r.valid.size();
  for (size_t i = 0; i < r.valid.size(); ++i)
    if (r.valid[i] && (best == r.valid.size() || worth(i) >= worth(best))) best = i;
  return best;
}

// An executor moves them itself when what writes them has ended; nothing here waits for that.
Ref<_cl_event> move_there(_cl_mem& root, SubContext& from, SubContext& to, const std::vector<Ref<_cl_event>>& before) {
  const Ref<_cl_event> ready = make<_cl_event>(*root.context, to);
  wire::Move m;
  m.from = root.at(from);
  m.to = root.at(to);
  m.part = root.whole();
  m.event = ready->name;
  for (const Ref<_cl_event>& e : before) {
    const bool is_there = e->sub_context && &e->sub_context->session == &to.session;
    if (const ObjectId id = !is_there ? e->name_at(to) : e->ended() ? 0 : e->name) m.waits.push_back(id);
  }
  to.session.send(m, true);
  ready->subscribe();
  return ready;
}

// Finds how the drivers themselves can move it. REQUIRES: Path::InProcess.
void find_way(Migration& migration) {
  NativeWay& way = way_between(*migration.from, *migration.to);
  give_peer_mapped(*migration.mem, *migration.from, *migration.to, way.moves);
  migration.from_native = native_mem(*migration.mem, *migration.from);
  migration.to_native = native_mem(*migration.mem, *migration.to);
  if (!migration.from_native || !migration.to_native) return;
  const Residency& r = migration.mem->residency;
  migration.from_peer_mapped = r.peer_mapped[migration.from->index];
  migration.to_peer_mapped = r.peer_mapped[migration.to->index];
  migration.way = &way;
}

copy::Layout dense(const _cl_mem& mem) {
  const copy::Region part = mem.whole();
  return {0, part.region[0] * mem.element(), part.region[1], part.region[2]};
}

memory::MoveCounts g_own_counts;
std::atomic<memory::MoveCounts*> g_counts{&g_own_counts};

}  // namespace

memory::MoveCounts& migration_counts() { return *g_counts; }
void count_migrations_in(memory::MoveCounts* there) { g_counts = there; }

void migrate(_cl_mem& root, SubContext& to) {
  Residency& r = root.residency;
  if (r.ready[to.index] && r.ready[to.index]->ended()) {
    const bool good = r.ready[to.index]->status.load() == CL_COMPLETE;
    if (good) r.ready[to.index] = {};
  }
  if (r.valid[to.index]) return;
  const size_t source = best_source(root, to);
  r.valid[to.index] = true;
  if (source == r.valid.size()) return;  // nobody has written it
  auto migration = std::make_shared<Migration>();
  migration->mem = Ref<_cl_mem>(&root);
  migration->from = root.context->sub_contexts[source].get();
  migration->to = &to;
  migration->layout = dense(root);
  const Path path = path_between(*migration->from, to);
  // This may give the source a peer-mapped allocation, which is one thing more to wait for.
  if (path == Path::InProcess) find_way(*migration);
  std::vector<Ref<_cl_event>> before = r.writers;
  if (r.ready[source]) before.push_back(r.ready[source]);
  if (path == Path::InExecutor) {
    r.ready[to.index] = move_there(root, *migration->from, to, before);
    return migration->count(migration_counts().direct);
  }
  migration->from_name = root.at(*migration->from);
  migration->to_name = root.at(to);
  const bool now = migration->way && have_ended(before);
  if (now) r.writers.clear();
  if (now && migration->is_small() && migration->move_here() == CL_SUCCESS) {
    r.ready[to.index] = {};
    migration->count(migration_counts().here);
    return;
  }
  migration->ready = make<_cl_event>(*root.context);
  r.ready[to.index] = migration->ready;
  if (now) return migration->start();
  after_all(before, [migration](cl_int) { migration->start(); });  // what failed has written what it has written
}

}  // namespace gt::virt
