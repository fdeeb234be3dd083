// What stays of an older platform file.
#include "traces/model/platform/platform_merge.h"

#include <algorithm>

namespace gt::model {
namespace {

template <class A, class B>
bool same(const A& a, const B& b) {
  return a.platform == b.platform && a.name == b.name && a.driver == b.driver;
}

template <class List, class Device>
const typename List::value_type* find(const List& list, const Device& device) {
  const auto at = std::ranges::find_if(list, [&](const auto& d) { return same(d, device); });
  return at == list.end() ? nullptr : &*at;
}

bool beaten(const DeviceCosts& now, const Platform& before) {
  return now.quick && std::ranges::any_of(before.devices, [&](auto& d) { return !d.quick && same(d, now); });
}

bool stays(const DeviceCosts& before, const Platform& fresh, Wanted wanted) {
  if (const DeviceCosts* now = find(fresh.devices, before)) return !before.quick && now->quick;
  return wanted != Wanted::All || find(fresh.failed, before) != nullptr;  // else it is no longer there
}

}  // namespace

const DeviceCosts* costs_of(const Platform& p, const DeviceCosts& device) { return find(p.devices, device); }
bool has_costs(const Platform& p, const FailedDevice& device) { return find(p.devices, device) != nullptr; }
bool has_costs(const Platform& p, const DeviceName& device) { return find(p.devices, device) != nullptr; }
const FailedDevice* failure_of(const Platform& p, const DeviceName& device) { return find(p.failed, device); }
const UnfinishedDevice* unfinished_of(const Platform& p, const DeviceName& device) {
  const auto at =
      std::ranges::find_if(p.unfinished, [&](const UnfinishedDevice& u) { return same(u.costs, device); });
  return at == p.unfinished.end() ? nullptr : &*at;
}

namespace {

void keep_unmeasured(Platform& out, const Platform& before, Wanted wanted) {
  for (const UnfinishedDevice& u : before.unfinished)
    if (wanted != Wanted::All && !unfinished_of(out, name_of(u.costs))) out.unfinished.push_back(u);
  std::erase_if(out.unfinished, [&](const UnfinishedDevice& u) { return find(out.devices, u.costs) != nullptr; });
  if (wanted == Wanted::Chosen && out.unlisted) {
    out.unused = before.unused;
    out.unlisted = before.unlisted;
  }
  std::erase_if(out.unused, [&](const DeviceName& d) {
    return find(out.devices, d) || find(out.failed, d) || unfinished_of(out, d);
  });
}

}  // namespace

Platform merge_platforms(const Platform& fresh, const Platform& before, Wanted wanted) {
  Platform out = fresh;
  std::erase_if(out.devices, [&](const DeviceCosts& d) { return beaten(d, before); });
  for (const DeviceCosts& d : before.devices)
    if (stays(d, fresh, wanted)) out.devices.push_back(d);
  for (const FailedDevice& f : before.failed)
    if (wanted == Wanted::Chosen && !has_costs(fresh, f) && !find(fresh.failed, f)) out.failed.push_back(f);
  keep_unmeasured(out, before, wanted);
  for (const LinkCosts& l : before.links)
    if (std::ranges::none_of(fresh.links, [&](auto& f) { return f.name == l.name; })) out.links.push_back(l);
  const auto full = [](const DeviceCosts& d) { return !d.quick; };
  const bool better = wanted != Wanted::All || (fresh.quick && std::ranges::any_of(before.devices, full));
  if (better && before.host.first_touch) out.host = before.host;
  out.quick = std::ranges::none_of(out.devices, full);
  return out;
}

}  // namespace gt::model
