// Streams of memory calls for collect_bench, through the recorder's own hooks: of a plain loop, and as programs make
// them that allocate without a rule. The blocks are real ones: the hooks look at what lies before a freed block.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "tracer/lib/memory_client.h"

namespace gt::memory_streams {

using tracer::MemoryClient;
using Fn = MemoryClient::Fn;

struct Block {
  void* address = nullptr;
  size_t bytes = 0;
};

class Heap {
 public:
  Block take(Fn fn, uint64_t site, size_t bytes) {
    void* block = std::malloc(bytes);
    MemoryClient::returned(fn, at(0x500000 + site * 64), block, bytes, bytes, static_cast<const void*>(block));
    ++calls_;
    return {block, bytes};
  }
  void give(Fn fn, uint64_t site, Block block) {
    const void* from = at(0x600000 + site * 64);
    if (fn == Fn::DeleteSized) {
      MemoryClient::releasing(fn, from, block.address, block.bytes);
    } else {
      MemoryClient::releasing(fn, from, block.address);
    }
    std::free(block.address);
    ++calls_;
  }
  int64_t calls() const { return calls_; }

 private:
  static const void* at(uint64_t address) { return reinterpret_cast<const void*>(address); }
  int64_t calls_ = 0;
};

inline std::mt19937_64& random() {
  static std::mt19937_64 one(1);
  return one;
}
inline size_t below(size_t limit) { return random()() % limit; }

// malloc and free from three places.
inline void blocks(Heap& heap, uint64_t i) {
  for (uint64_t site = 0; site < 3; ++site) heap.give(Fn::Free, site, heap.take(Fn::Malloc, site, 100 + i % 2));
}

// A matrix whose every row is a block, made in order and freed in order (alloc_rows).
inline void rows(Heap& heap, uint64_t) {
  constexpr size_t Rows = 1 << 20;
  static std::vector<Block> matrix;
  static size_t freed = 0;
  if (freed == 0 && matrix.size() < Rows) return matrix.push_back(heap.take(Fn::Malloc, 8, 68));
  heap.give(Fn::Free, 9, matrix[freed++]);
  if (freed < Rows) return;
  matrix.clear();
  freed = 0;
}

// One place, sizes at random; any of a thousand blocks is freed and made anew (alloc_loop --random).
inline void random_sizes(Heap& heap, uint64_t) {
  static std::vector<Block> alive;
  if (alive.size() < 1000) return alive.push_back(heap.take(Fn::Malloc, 10, 1 + below(1000)));
  Block& block = alive[below(alive.size())];
  heap.give(Fn::Free, 10, block);
  block = heap.take(Fn::Malloc, 10, 1 + below(1000));
}

// The neighbours of one atom: two lists in order, the last one erased beyond a length at random (alloc_lists).
inline void lists(Heap& heap, uint64_t) {
  std::multimap<uint64_t, std::pair<Block, Block>> near;
  const size_t most = 32 + below(32);
  for (int met = 0; met < 2000; ++met) {
    const uint64_t distance = random()();
    if (near.size() == most && distance >= near.rbegin()->first) continue;
    const Block first = heap.take(Fn::New, 20, 24);
    near.emplace(distance, std::pair(first, heap.take(Fn::New, 21, 24)));
    if (near.size() <= most) continue;
    const auto last = std::prev(near.end());
    heap.give(Fn::DeleteSized, 22, last->second.first);
    heap.give(Fn::DeleteSized, 23, last->second.second);
    near.erase(last);
  }
  for (const auto& [_, nodes] : near) heap.give(Fn::DeleteSized, 24, nodes.second);
  for (const auto& [_, nodes] : near) heap.give(Fn::DeleteSized, 25, nodes.first);
}

// One line of a script: strings and nodes of a tree from forty places in any order, each kept for a while or for the
// line (alloc_strings).
inline void scripts(Heap& heap, uint64_t) {
  std::vector<Block> line, scope;
  for (size_t left = below(30); left > 0; --left) {
    (below(3) == 0 ? scope : line).push_back(heap.take(Fn::New, 100 + below(40), 17 + below(60)));
    if (below(4) == 0) {
      for (const Block& block : scope) heap.give(Fn::DeleteSized, 100 + below(20), block);
      scope.clear();
    }
  }
  for (const Block& block : scope) heap.give(Fn::DeleteSized, 130, block);
  for (const Block& block : line) heap.give(Fn::DeleteSized, 131 + block.bytes % 4, block);
}

}  // namespace gt::memory_streams
