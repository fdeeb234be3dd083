// The blocks of a process's heap, by address: a page table whose neighbours are neighbours here, too.
//
// A hash map of all blocks scatters what a program allocates in order, and each call costs a miss of the caches: ten
// times what the rest of it takes. Here the blocks that begin in 1 KiB of addresses share one leaf: a few of them 52
// bytes, more of them 768.
// Thread safety: none. Cost: a look-up in the leaf of the last one is a comparison, in another one a probe more. Memory
// is never given back: at most three quarters of the addresses where blocks of up to 256 bytes ever lay, a fifteenth of
// those of larger ones.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "tracer/collect/address_map.h"
#include "tracer/collect/object_ref.h"

namespace gt::tracer {

class BlockTable {
 public:
  struct Block {
    ObjectRef object;  // unknown: there is none
    uint32_t size = 0;
  };
  static constexpr uint64_t MostBytes = 4095;

  // May a block lie here?
  static bool holds(uint64_t base, uint64_t size) { return size <= MostBytes && base % Align == 0 && base != 0; }

  // The block that begins at `base`; nullptr: none.
  Block* find(uint64_t base) {
    const Leaf leaf = leaf_of(base);
    if (base % Align != 0) return nullptr;
    if (leaf.many) return known(leaf.many->blocks[index(base)]);
    if (!leaf.few) return nullptr;
    for (size_t i = 0; i < Few::Count; ++i) {
      if (leaf.few->at[i] == index(base) && leaf.few->blocks[i].object.known()) return &leaf.few->blocks[i];
    }
    return nullptr;
  }
  // The block that holds `address`, and where it begins; nullptr: none.
  Block* find_around(uint64_t address, uint64_t& base) {
    base = address / Align * Align;
    while (base != 0 && address - base < MostBytes) {
      size_t at = index(base);
      const uint64_t leaf_base = base - at * Align;
      if (Block* const block = last_until(leaf_of(base), at)) {
        base = leaf_base + at * Align;
        return address - base < block->size ? block : nullptr;
      }
      base = leaf_base - Align;
    }
    return nullptr;
  }
  // REQUIRES: holds(base, size). What began there is forgotten.
  void add(uint64_t base, uint64_t size, ObjectRef object) {
    place_of(base) = {object, static_cast<uint32_t>(size)};
  }
  static void remove(Block& block) { block = {}; }
  // Where the block at `base` lies, or may lie. REQUIRES: holds(base, any size).
  Block& place_of(uint64_t base) {
    const Leaf leaf = leaf_of(base);
    if (leaf.many) return leaf.many->blocks[index(base)];
    if (Block* const block = find(base)) return *block;
    for (size_t i = 0; leaf.few && i < Few::Count; ++i) {
      if (leaf.few->blocks[i].object.known()) continue;
      leaf.few->at[i] = index(base);
      return leaf.few->blocks[i];
    }
    return new_place_of(base, leaf.few);
  }
  // Somebody will ask for that soon.
  void prefetch(uint64_t base) {
    Region* region = last_region_;
    if (base / RegionBytes != last_region_number_) {
      Region** const known = regions_.find(base / RegionBytes + 1);
      if (!known) return;
      region = *known;
    }
    const Leaf& leaf = (*region)[base % RegionBytes / LeafBytes];
    if (leaf.many) __builtin_prefetch(&leaf.many->blocks[index(base)], 1);
  }

 private:
  static constexpr uint64_t Align = 16, LeafBytes = 1 << 10, RegionBytes = 1 << 20;
  struct Few {
    static constexpr size_t Count = 4;
    std::array<Block, Count> blocks;
    std::array<uint8_t, Count> at{};  // index() of each
  };
  struct Many {
    std::array<Block, LeafBytes / Align> blocks;
  };
  struct Leaf {  // one of them, or none
    Few* few = nullptr;
    Many* many = nullptr;
  };
  using Region = std::array<Leaf, RegionBytes / LeafBytes>;

  static uint8_t index(uint64_t base) { return static_cast<uint8_t>(base % LeafBytes / Align); }
  static Block* known(Block& block) { return block.object.known() ? &block : nullptr; }

  Leaf leaf_of(uint64_t base) {
    if (base / LeafBytes == last_number_) return last_;
    if (base / RegionBytes != last_region_number_) {
      Region** const region = regions_.find(base / RegionBytes + 1);
      if (!region) return {};
      last_region_number_ = base / RegionBytes;
      last_region_ = *region;
    }
    last_number_ = base / LeafBytes;
    return last_ = (*last_region_)[base % RegionBytes / LeafBytes];
  }

  // The last block of a leaf that begins at `at` or before; `at`: where. nullptr: there is none.
  static Block* last_until(const Leaf& leaf, size_t& at) {
    if (leaf.many) {
      for (size_t i = at + 1; i-- > 0;) {
        if (leaf.many->blocks[i].object.known()) return at = i, &leaf.many->blocks[i];
      }
      return nullptr;
    }
    Block* last = nullptr;
    size_t last_at = 0;
    for (size_t i = 0; leaf.few && i < Few::Count; ++i) {
      const size_t here = leaf.few->at[i];
      if (here > at || (last && here < last_at) || !leaf.few->blocks[i].object.known()) continue;
      last = &leaf.few->blocks[i];
      last_at = here;
    }
    if (last) at = last_at;
    return last;
  }
  // `full`: the leaf, which has no place for it; nullptr: there is no leaf yet.
  Block& new_place_of(uint64_t base, Few* full) {
    Region*& region = regions_[base / RegionBytes + 1];
    if (!region) region = &all_regions_.emplace_back();
    Leaf& leaf = (*region)[base % RegionBytes / LeafBytes];
    last_number_ = ~uint64_t{0};
    if (!full) {
      leaf.few = spare_.empty() ? &few_.emplace_back() : spare_.back();
      if (!spare_.empty()) spare_.pop_back();
      leaf.few->at[0] = index(base);
      return leaf.few->blocks[0];
    }
    leaf = {nullptr, &many_.emplace_back()};
    for (size_t i = 0; i < Few::Count; ++i) leaf.many->blocks[full->at[i]] = full->blocks[i];
    *full = {};
    spare_.push_back(full);
    return leaf.many->blocks[index(base)];
  }

  AddressMap<Region*> regions_;  // by their number, from one on
  std::deque<Region> all_regions_;
  std::deque<Few> few_;
  std::deque<Many> many_;
  std::vector<Few*> spare_;
  uint64_t last_number_ = ~uint64_t{0};  // of the leaf that was asked for last
  Leaf last_;
  uint64_t last_region_number_ = ~uint64_t{0};
  Region* last_region_ = nullptr;
};

}  // namespace gt::tracer
