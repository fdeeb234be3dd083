// The small blocks of a process's heap, by address: a page table whose neighbours are neighbours here, too.
//
// A hash map of all blocks scatters what a program allocates in order, and each call costs a miss of the caches: ten
// times what the rest of it takes. Here the blocks of 1 KiB of addresses share one leaf, 768 bytes.
// Thread safety: none. Cost: a look-up in the leaf of the last one is a comparison, in another leaf of a region one
// probe more. Memory: three quarters of the addresses where small blocks ever lay, and never given back.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>

#include "tracer/collect/address_map.h"
#include "tracer/collect/object_ref.h"

namespace gt::tracer {

class BlockTable {
 public:
  struct Block {
    ObjectRef object;  // unknown: there is none
    uint32_t size = 0;
  };

  // May a block lie here? Larger ones would have a leaf each.
  static bool holds(uint64_t base, uint64_t size) { return size <= MostBytes && base % Align == 0 && base != 0; }

  // The block that begins at `base`; nullptr: none.
  Block* find(uint64_t base) {
    Leaf* const leaf = leaf_of(base);
    if (!leaf || base % Align != 0) return nullptr;
    Block& block = at(*leaf, base);
    return block.object.known() ? &block : nullptr;
  }
  // The block that holds `address`, and where it begins; nullptr: none.
  Block* find_around(uint64_t address, uint64_t& base) {
    base = address / Align * Align;
    for (uint64_t steps = MostBytes / Align; steps > 0; --steps, base -= Align) {
      if (Block* const block = find(base)) return address - base < block->size ? block : nullptr;
      if (base == 0) break;
    }
    return nullptr;
  }
  // REQUIRES: holds(base, size). What was there is forgotten.
  void add(uint64_t base, uint64_t size, ObjectRef object) {
    at(made_leaf_of(base), base) = {object, static_cast<uint32_t>(size)};
  }
  static void remove(Block& block) { block = {}; }

 private:
  static constexpr uint64_t MostBytes = 256, Align = 16, LeafBytes = 1 << 10, RegionBytes = 1 << 20;
  using Leaf = std::array<Block, LeafBytes / Align>;
  using Region = std::array<Leaf*, RegionBytes / LeafBytes>;

  static Block& at(Leaf& leaf, uint64_t base) { return leaf[base % LeafBytes / Align]; }

  Leaf* leaf_of(uint64_t base) {
    if (base / LeafBytes == last_number_) return last_;
    Region** const region = regions_.find(base / RegionBytes + 1);
    Leaf* const leaf = region ? (**region)[base % RegionBytes / LeafBytes] : nullptr;
    if (leaf) last_number_ = base / LeafBytes, last_ = leaf;
    return leaf;
  }
  Leaf& made_leaf_of(uint64_t base) {
    if (Leaf* const leaf = leaf_of(base)) return *leaf;
    Region*& region = regions_[base / RegionBytes + 1];
    if (!region) region = &all_regions_.emplace_back();
    return *(region->at(base % RegionBytes / LeafBytes) = &leaves_.emplace_back());
  }

  AddressMap<Region*> regions_;  // by their number, from one on
  std::deque<Region> all_regions_;
  std::deque<Leaf> leaves_;
  uint64_t last_number_ = ~uint64_t{0};
  Leaf* last_ = nullptr;
};

}  // namespace gt::tracer
