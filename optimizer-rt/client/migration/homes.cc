#include "optimizer-rt/client/migration/homes.h"

#include <algorithm>

#include "optimizer-rt/client/session/local_executor.h"
#include "optimizer-rt/client/migration/moves.h"

namespace gt::virt {
namespace {

// Two homes take some 800 us to make and to let go of; each move then saves some 25.
constexpr unsigned WorthIt = 32;

bool may_have_homes(const _cl_mem& root) {
  const Residency& r = root.residency;
  const auto under_way = [](const Ref<_cl_event>& ready) { return ready && !ready->ended(); };
  return !root.is_image() && !root.svm && !r.has_parts && root.size <= NativeMoves::LargestHome &&
         std::none_of(r.ready.begin(), r.ready.end(), under_way);
}

bool move_in(_cl_mem& root, Place& place, std::shared_ptr<PeerMemory> home) {
  const ObjectId name = place.session.new_id();
  if (!place.session.local()->adopt(home->mem(), root.size, name)) return false;
  root.rename(place, name);
  root.residency.homes[place.index] = std::move(home);
  return true;
}

}  // namespace

NativeMem native_mem(_cl_mem& mem, Place& place) {
  return {place.session.local()->cl(), native<cl_mem>(place.session, api::ObjectKind::Buffer, mem.at(place))};
}

void give_homes(_cl_mem& root, Place& from, Place& to, NativeMoves& way) {
  Residency& r = root.residency;
  if ((r.homes[from.index] && r.homes[to.index]) || ++r.homeless_moves < WorthIt) return;
  r.homeless_moves = 0;  // where it is not possible now, it may be later
  if (!may_have_homes(root)) return;
  using Side = NativeMoves::Side;
  std::shared_ptr<PeerMemory> there, here;
  if (!r.homes[to.index] && !(there = way.make_home(Side::To, root.size))) return;
  if (!r.homes[from.index] && !(here = way.make_home(Side::From, root.size))) return;
  if (there && !move_in(root, to, std::move(there))) return;
  NativeMem before = native_mem(root, from);
  if (here && before && move_in(root, from, std::move(here))) refill(root, from, std::move(before));
}

void leave_homes(_cl_mem& root) {
  Residency& r = root.residency;
  r.has_parts = true;
  for (const auto& place : root.context->places) {
    const std::shared_ptr<PeerMemory> home = std::move(r.homes[place->index]);
    if (!home) continue;
    NativeMem before = native_mem(root, *place);
    root.renew(*place);
    if (r.valid[place->index]) refill(root, *place, std::move(before));
  }
}

}  // namespace gt::virt
