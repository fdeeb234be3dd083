#include "optimizer-rt/client/transfer/migration.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "optimizer-rt/client/base/serial_thread.h"
#include "optimizer-rt/client/objects/queue.h"
#include "optimizer-rt/client/session/peering.h"
#include "optimizer-rt/client/transfer/migration_counts.h"
#include "optimizer-rt/client/transfer/native_ways.h"
#include "optimizer-rt/client/transfer/passing.h"
#include "optimizer-rt/client/transfer/peer_mapped.h"
#include "optimizer-rt/client/transfer/transfer.h"

namespace gt::virt {
namespace {

// One migration under way between two drivers of this process: it runs on a thread of ours, when what it waited for has
// ended; the commands at the destination wait for `ready`.
struct Migration : std::enable_shared_from_this<Migration> {
  Ref<_cl_mem> mem;
  SubContext *from, *to;
  NativeWay* way = nullptr;
  NativeMem from_native, to_native;
  std::shared_ptr<PeerMemory> from_peer_mapped, to_peer_mapped;
  Ref<_cl_event> ready;

  void start() {
    count(migration_counts().here);
    mover(way->number).post([self = shared_from_this()] { self->move_natively(); });
  }
  NativeMoves::Held source() const { return {from_native.get(), from_peer_mapped.get()}; }
  NativeMoves::Held destination() const { return {to_native.get(), to_peer_mapped.get()}; }
  uint64_t bytes() const { return copy::packed_bytes(mem->whole(), mem->element()); }
  bool is_small() const { return NativeMoves::is_small(source(), destination(), bytes()); }
  cl_int move_here() {
    const NativeMoves::Moved moved = way->moves.move(source(), destination(), mem->whole(), mem->element());
    if (moved.by_devices) count(migration_counts().device);
    return moved.code;
  }
  void move_natively() {
    const cl_int code = move_here();
    ready->complete(code == CL_SUCCESS ? CL_COMPLETE : code, 0, 0);
  }
  void count(memory::MoveCounts::Way& taken) const { taken.add(bytes()); }
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

bool are_there(const Residency& r, size_t place) { return r.valid[place] && !r.ready[place]; }

// Where a command finds them soonest: in the same process; at a proxy with a link to this one; large contents at the
// one that has sent them to the fewest (so they go along a chain); at a sub-context whose own move is over. None: how
// many there are.
size_t best_source(const _cl_mem& root, const SubContext& to) {
  const Residency& r = root.residency;
  const bool chain = Passing::parts_of(root) > 1;
  const auto worth = [&](size_t i) {
    const SubContext& place = *root.context->sub_contexts[i];
    const bool near = path_between(place, to) != Path::BetweenExecutors;
    return std::tuple(near, near || may_be_peers(place.session, to.session),
                      chain ? -static_cast<int64_t>(r.passed_on[i]) : 0, are_there(r, i));
  };
  size_t best = r.valid.size();
  for (size_t i = 0; i < r.valid.size(); ++i)
    if (r.valid[i] && (best == r.valid.size() || worth(i) >= worth(best))) best = i;
  return best;
}

// An origin is looked for where the source's own move may still fail; there may be none but the source.
PassingSource passing_source(const _cl_mem& root, size_t source, const SubContext& to) {
  const Residency& r = root.residency;
  const auto& places = root.context->sub_contexts;
  PassingSource out{places[source].get(), r.arrivals[source], places[source].get(), r.ready[source]};
  for (size_t i = 0; i < r.valid.size() && !are_there(r, source); ++i) {
    if (i == to.index || !are_there(r, i)) continue;
    out.origin = places[i].get();
    out.origin_ready = {};
    break;
  }
  return out;
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

// `before`: commands that may still write them.
void pass(_cl_mem& root, size_t source, SubContext& to, std::vector<Ref<_cl_event>> before) {
  Residency& r = root.residency;
  const PassingSource from = passing_source(root, source, to);
  const bool in_parts = from.arrival && !from.arrival->parts.empty();
  if (r.ready[source] && !in_parts) before.push_back(r.ready[source]);
  const auto passing = std::make_shared<Passing>(root, from, to);
  ++r.passed_on[source];
  r.ready[to.index] = passing->ready();
  r.arrivals[to.index] = passing->arrival();
  after_all(before, [passing](cl_int) { passing->start(); });  // what failed has written what it has written
}

}  // namespace

void migrate(_cl_mem& root, SubContext& to) {
  Residency& r = root.residency;
  r.look_at(to.index);
  if (r.valid[to.index]) return;
  for (size_t i = 0; i < r.valid.size(); ++i) r.look_at(i);
  const size_t source = best_source(root, to);
  r.valid[to.index] = true;
  if (source == r.valid.size()) return;  // nobody has written it
  auto migration = std::make_shared<Migration>();
  migration->mem = Ref<_cl_mem>(&root);
  migration->from = root.context->sub_contexts[source].get();
  migration->to = &to;
  const Path path = path_between(*migration->from, to);
  // This may give the source a peer-mapped allocation, which is one thing more to wait for.
  if (path == Path::InProcess) find_way(*migration);
  std::vector<Ref<_cl_event>> before = r.writers;
  if (!migration->way && path != Path::InExecutor) return pass(root, source, to, std::move(before));
  if (r.ready[source]) before.push_back(r.ready[source]);
  if (path == Path::InExecutor) {
    r.ready[to.index] = move_there(root, *migration->from, to, before);
    return migration->count(migration_counts().direct);
  }
  const bool now = have_ended(before);
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
