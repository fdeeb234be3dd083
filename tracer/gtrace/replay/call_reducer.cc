#include "tracer/gtrace/replay/call_reducer.h"

#include <algorithm>

namespace gt::tracer {

bool CallReducer::accept(CallSet set) {
  if (set == kept_) return true;
  if (target_ && !set[*target_]) return false;
  if (!goes_on_() || !holds_(set)) return false;
  kept_ = std::move(set);
  return true;
}

void CallReducer::reduce(std::optional<CallIndex> target, std::optional<CallIndex> near) {
  target_ = target;
  if (near) {
    CallSet until = kept_;
    std::fill(until.begin() + static_cast<ptrdiff_t>(*near) + 1, until.end(), false);
    accept(std::move(until));
    accept(graph_.needed_by(*near));
  }
  minimize(objects());
  minimize(graph_.iterations());
  minimize(singles());
}

std::vector<CallReducer::Unit> CallReducer::objects() const {
  std::vector<Unit> units;
  for (CallIndex i = 0; i < graph_.size(); ++i) {
    if (kept_[i] && graph_.makes_object(i)) units.push_back({i});
  }
  return units;
}

std::vector<CallReducer::Unit> CallReducer::singles() const {
  std::vector<Unit> units;
  for (CallIndex i = 0; i < graph_.size(); ++i) {
    if (kept_[i]) units.push_back({i});
  }
  return units;
}

// Units of which nothing is left, or that take the target along.
void CallReducer::drop_useless(std::vector<Unit>& units) const {
  std::erase_if(units, [this](const Unit& unit) {
    if (std::none_of(unit.begin(), unit.end(), [this](CallIndex c) { return kept_[c]; })) return true;
    return target_ && !graph_.without(kept_, unit)[*target_];
  });
}

void CallReducer::minimize(std::vector<Unit> units) {
  drop_useless(units);
  size_t chunk = std::max<size_t>(units.size() / 2, 1);
  while (!units.empty() && goes_on_()) {
    bool fewer = false;
    for (size_t end = units.size(); end > 0 && goes_on_();) {
      const size_t begin = end > chunk ? end - chunk : 0;
      Unit calls;
      for (size_t i = begin; i < end; ++i) calls.insert(calls.end(), units[i].begin(), units[i].end());
      if (accept(graph_.without(kept_, calls))) {
        units.erase(units.begin() + static_cast<ptrdiff_t>(begin), units.begin() + static_cast<ptrdiff_t>(end));
        fewer = true;
      }
      end = begin;
    }
    if (fewer) drop_useless(units);
    if (chunk == 1 && !fewer) return;
    chunk = std::max<size_t>(std::min(chunk, units.size()) / 2, 1);
  }
}

}  // namespace gt::tracer
