// Sites with the calls around them, and how many of those it takes to tell a wrapper's uses apart.
//
// While a program runs, each distinct chain (a site and up to MaxFrames return addresses around it) is a site of its
// own. At the end each is cut down to what distinguishes it from the other chains of the same place in code:
//
//   recorded                              kept
//   alloc+9 < xmalloc+5 < read+7 < main   alloc+9 < xmalloc+5 < read+7
//   alloc+9 < xmalloc+5 < sort+3 < main   alloc+9 < xmalloc+5 < sort+3
//   alloc+9 < start+1 < main              alloc+9 < start+1
//   other+4 < main                        other+4
//
// So nothing is told of a place that has one caller only, and the chain of a wrapper is complete from its first call
// on. Thread safety: none.
#pragma once

#include <map>
#include <vector>

#include "tracer/collect/interning.h"
#include "traces/model/fold/event.h"

namespace gt::tracer {

struct HashSite {
  size_t operator()(const model::Site& s) const { return mix(s.module, s.offset); }
};

class Chains {
 public:
  explicit Chains(std::vector<model::Site>& sites) : sites_(&sites) {}

  // `chain`: innermost first, at least two; `outer` is not used. A new chain gets a new row, whose outer is not set
  // yet.
  model::SiteId operator()(const std::vector<model::Site>& chain);

  // Gives `trace` the outer sites that are needed. What turns out to be no wrapper becomes the plain site of its place,
  // where there is one. Rows of outer sites come behind those that refer to them.
  void settle(model::Trace& trace) const;

 private:
  struct Place {  // orders sites by module and offset
    uint32_t module;
    uint64_t offset;
    auto operator<=>(const Place&) const = default;
  };
  using Chain = std::vector<Place>;

  std::vector<model::Site>* sites_;
  std::map<Chain, model::SiteId> ids_;  // sorted: the chain that shares most with another is its neighbour
};

}  // namespace gt::tracer
