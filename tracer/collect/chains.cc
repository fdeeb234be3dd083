#include "tracer/collect/chains.h"

#include <algorithm>

namespace gt::tracer {

model::SiteId Chains::operator()(const std::vector<model::Site>& chain) {
  Chain key;
  for (const model::Site& s : chain) key.push_back({s.module, s.offset});
  const auto [at, fresh] = ids_.try_emplace(std::move(key), static_cast<model::SiteId>(sites_->size()));
  if (fresh) sites_->push_back({chain[0].module, chain[0].offset, model::NoIndex});
  return at->second;
}

void Chains::settle(model::Trace& trace) const {
  const size_t recorded = trace.sites.size();
  std::vector<model::SiteId> now(recorded);
  for (uint32_t i = 0; i < recorded; ++i) now[i] = i;
  std::map<Place, model::SiteId> plain;
  std::vector<bool> chained(recorded);
  for (const auto& [chain, id] : ids_) chained[id] = true;
  for (uint32_t i = 0; i < recorded; ++i) {
    if (!chained[i]) plain.emplace(Place{trace.sites[i].module, trace.sites[i].offset}, i);
  }

  std::map<Chain, model::SiteId> rows;  // outer sites, by the chain from them on
  const auto shared = [](const Chain& a, const Chain& b) {
    return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  };
  for (auto it = ids_.begin(); it != ids_.end(); ++it) {
    const Chain& chain = it->first;
    size_t common = 0;
    if (it != ids_.begin()) common = shared(chain, std::prev(it)->first);
    if (const auto next = std::next(it); next != ids_.end()) common = std::max(common, shared(chain, next->first));
    const size_t needed = std::min(common + 1, chain.size());
    if (common == 0) {
      if (const auto known = plain.find(chain[0]); known != plain.end()) now[it->second] = known->second;
      continue;
    }
    model::SiteId inner = it->second;
    for (size_t i = 1; i < needed; ++i) {
      const Chain rest(chain.begin() + static_cast<ptrdiff_t>(i), chain.begin() + static_cast<ptrdiff_t>(needed));
      const auto [row, fresh] = rows.try_emplace(rest, static_cast<model::SiteId>(trace.sites.size()));
      trace.sites[inner].outer = row->second;
      if (!fresh) break;
      trace.sites.push_back({chain[i].module, chain[i].offset, model::NoIndex});
      inner = row->second;
    }
  }
  for (model::Shape& s : trace.shapes) {
    if (s.site < recorded) s.site = now[s.site];
  }
  for (model::Class& c : trace.classes) {
    if (c.site < recorded) c.site = now[c.site];
  }
}

}  // namespace gt::tracer
