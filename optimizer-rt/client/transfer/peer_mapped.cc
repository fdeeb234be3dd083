#include "optimizer-rt/client/transfer/peer_mapped.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "optimizer-rt/client/base/serial_thread.h"
#include "optimizer-rt/client/transfer/native_ways.h"
#include "traces/base/mutex.h"

namespace gt::virt {
namespace {

// Two peer-mapped allocations take some 800 us to make and to let go of; each move then saves some 25.
constexpr unsigned WorthIt = 32;

bool may_be_peer_mapped(const _cl_mem& root) {
  const Residency& r = root.residency;
  const auto under_way = [](const Ref<_cl_event>& ready) { return ready && !ready->ended(); };
  return !root.is_image() && !root.svm && !r.has_parts && root.size <= NativeMoves::LargestPeerMapped &&
         std::none_of(r.ready.begin(), r.ready.end(), under_way);
}

bool move_in(_cl_mem& root, SubContext& sub_context, std::shared_ptr<PeerMemory> mapped) {
  const ObjectId name = sub_context.session.new_id();
  if (!name_native(mapped->mem(), sub_context, name)) return false;
  root.rename(sub_context, name);
  root.residency.peer_mapped[sub_context.index] = std::move(mapped);
  return true;
}

// The root is another native object at the sub-context from now on: sees to it that it holds what the one before holds,
// as migrate() (migration.h) does.
void refill(_cl_mem& root, SubContext& sub_context, NativeMem before) {
  struct Refill {
    Ref<_cl_mem> mem;
    NativeMem before, now;
    NativeWay& within;
    Ref<_cl_event> ready;
    cl_int copy() const {
      if (!now) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
      return within.moves.copy_at_source(before.get(), now.get(), mem->size);
    }
    void complete() const {
      const cl_int code = copy();
      ready->complete(code == CL_SUCCESS ? CL_COMPLETE : code, 0, 0);
    }
  };
  Residency& r = root.residency;
  std::vector<Ref<_cl_event>> events = r.writers;
  if (r.ready[sub_context.index]) events.push_back(r.ready[sub_context.index]);
  const auto all = std::make_shared<Refill>(Refill{Ref<_cl_mem>(&root),
                                                   std::move(before),
                                                   native_mem(root, sub_context),
                                                   way_between(sub_context, sub_context),
                                                   {}});
  if (have_ended(events) && all->copy() == CL_SUCCESS) return;
  all->ready = make<_cl_event>(*root.context);
  r.ready[sub_context.index] = all->ready;
  after_all(events, [all](cl_int) { mover(all->within.number).post([all] { all->complete(); }); });
}

void leave_peer_mapped(_cl_mem& root) {
  Residency& r = root.residency;
  r.has_parts = true;
  for (const auto& sub_context : root.context->sub_contexts) {
    const std::shared_ptr<PeerMemory> mapped = std::move(r.peer_mapped[sub_context->index]);
    if (!mapped) continue;
    NativeMem before = native_mem(root, *sub_context);
    root.renew(*sub_context);
    if (r.valid[sub_context->index]) refill(root, *sub_context, std::move(before));
  }
}

}  // namespace

void give_peer_mapped(_cl_mem& root, SubContext& from, SubContext& to, NativeMoves& way) {
  Residency& r = root.residency;
  if ((r.peer_mapped[from.index] && r.peer_mapped[to.index]) || ++r.unmapped_moves < WorthIt) return;
  r.unmapped_moves = 0;  // where it is not possible now, it may be later
  if (!may_be_peer_mapped(root)) return;
  using Side = NativeMoves::Side;
  std::shared_ptr<PeerMemory> there, here;
  if (!r.peer_mapped[to.index] && !(there = way.make_peer_mapped(Side::To, root.size))) return;
  if (!r.peer_mapped[from.index] && !(here = way.make_peer_mapped(Side::From, root.size))) return;
  if (there && !move_in(root, to, std::move(there))) return;
  NativeMem before = native_mem(root, from);
  if (here && before && move_in(root, from, std::move(here))) refill(root, from, std::move(before));
}

void make_part_of(_cl_mem& part, _cl_mem* whole) {
  if (!whole) return;
  part.parent = Ref<_cl_mem>(whole);
  keep_in_place(*whole);
}

void keep_in_place(_cl_mem& mem) {
  const MutexLock lock(mem.context->residency);
  leave_peer_mapped(mem.root());
}

}  // namespace gt::virt
