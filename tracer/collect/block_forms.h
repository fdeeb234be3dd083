// What block words say in few bits: the forms of each ring, and the shapes that calls of a form had last.
//
// Thread safety: none. Cost: a call of a form that made or freed the same class last time is some comparisons.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "tracer/collect/interning.h"
#include "tracer/collect/traced_thread.h"
#include "tracer/lib/block_words.h"
#include "traces/api/alloc_fn.h"
#include "traces/model/fold/event.h"

namespace gt::tracer {

// Calls with one parameter, the size of the block that they return; or the block that they free, and perhaps a number.
inline bool makes_block(const api::AllocFnInfo& info) {
  return info.result == api::AllocRole::Made && info.params[0].role == api::AllocRole::Size &&
         info.params[1].role == api::AllocRole::None;
}
inline bool is_sized(const api::AllocFnInfo& info) { return info.params[1].role == api::AllocRole::Number; }
inline bool frees_block(const api::AllocFnInfo& info) {
  return info.result == api::AllocRole::None && info.params[0].role == api::AllocRole::Old &&
         info.params[2].role == api::AllocRole::None;
}

// A call that only makes a block, or only gives one back: its shape.
struct BlockShape {
  model::SiteId site = model::NoIndex;
  model::ClassId freed = model::NoIndex;  // class of the block; when making one: none
  uint32_t fn = 0;  // 0: nothing has this number
  model::ShapeId shape = model::NoIndex;
  model::ClassId out = model::NoIndex;  // of the block that it makes
  uint32_t values = 0;
  bool is(model::SiteId s, model::ClassId c, uint32_t f) const { return site == s && freed == c && fn == f; }
};

// Those of a thread: all that it has had. A program frees blocks of many places in many others, and each pair of them
// is a shape.
class BlockShapes {
 public:
  // nullptr: it is not among them.
  const BlockShape* find(model::SiteId site, model::ClassId freed, uint32_t fn) const {
    for (size_t i = home(site, freed, fn);; i = next(i)) {
      if (shapes_[i].is(site, freed, fn)) return &shapes_[i];
      if (shapes_[i].fn == 0) return nullptr;
    }
  }
  void put(const BlockShape& shape) {
    if ((size_ + 1) * 2 > shapes_.size()) grow();
    size_t i = home(shape.site, shape.freed, shape.fn);
    while (shapes_[i].fn != 0 && !shapes_[i].is(shape.site, shape.freed, shape.fn)) i = next(i);
    size_ += shapes_[i].fn == 0;
    shapes_[i] = shape;
  }

 private:
  size_t home(model::SiteId site, model::ClassId freed, uint32_t fn) const {
    return mix(site ^ uint64_t{fn} << 32, freed) & (shapes_.size() - 1);
  }
  size_t next(size_t i) const { return (i + 1) & (shapes_.size() - 1); }
  void grow() {
    std::vector<BlockShape> old(shapes_.size() * 2);
    old.swap(shapes_);
    size_ = 0;
    for (const BlockShape& shape : old) {
      if (shape.fn != 0) put(shape);
    }
  }

  std::vector<BlockShape> shapes_ = std::vector<BlockShape>(64);  // a power of two, half of them free (fn == 0)
  size_t size_ = 0;
};

// A function and the place that calls it.
struct BlockForm {
  uint16_t fn = 0;  // 0: nothing has this number
  uint64_t address = 0;
  model::SiteId site = model::NoIndex;
  const TracedProcess* process = nullptr;  // whose site it is
  uint32_t modules = 0;                    // of the process, when the site was found
  BlockShape last{};                       // of the call that it stood for last
  const BlockShapes* shapes = nullptr;     // among which that is

  // The shape of such a call; nullptr: it is not among `known`.
  const BlockShape* shape_of(const BlockShapes& known, model::ClassId freed) {
    if (shapes == &known && last.is(site, freed, fn)) return &last;
    const BlockShape* const found = known.find(site, freed, fn);
    if (!found) return nullptr;
    shapes = &known;
    last = *found;
    return &last;
  }
};

struct RingBlocks {
  uint64_t base = 0;
  std::array<BlockForm, BlockFormCount> forms{};
};

// By ring.
class BlockForms {
 public:
  RingBlocks& of(uint32_t ring) {
    if (ring >= rings_.size()) rings_.resize(ring + 1);
    if (!rings_[ring]) rings_[ring] = std::make_unique<RingBlocks>();
    return *rings_[ring];
  }
  void ring_ended(uint32_t ring) {
    if (ring < rings_.size()) rings_[ring].reset();
  }

 private:
  std::vector<std::unique_ptr<RingBlocks>> rings_;
};

}  // namespace gt::tracer
