// Calls at random that are recorded as block words, and who hears them again from what a reader of the spool gives.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "tracer/collect/ring_reader.h"
#include "tracer/lib/block_recorder.h"

namespace gt::tracer {

inline uint64_t word(const RecordView& r, size_t i) {
  uint64_t v = 0;
  std::memcpy(&v, r.payload.data() + 8 * i, 8);
  return v;
}

// A call as the recorder was told it, and as the reader's words say it.
struct Told {
  BlockTag tag = BlockTag::None;
  uint64_t form = 0, address = 0, bytes = 0;
  bool operator==(const Told&) const = default;
};

// What the block words of a spool say, in the order in which they are given.
struct Hearer {
  std::map<uint32_t, std::map<uint64_t, uint64_t>> forms;  // by ring
  std::map<uint32_t, uint64_t> bases;
  std::vector<Told> calls;
  std::vector<uint32_t> rings;  // parallel
  uint64_t others = 0;

  void operator()(const RecordView& r) {
    if (r.header.type == RecordType::BlockForm) forms[r.ring][word(r, 0)] = word(r, 1);
    if (r.header.type != RecordType::Blocks) {
      others += r.header.type == RecordType::Release;
      return;
    }
    for (size_t i = 0; i < r.payload.size() / 8; ++i) {
      if (tag_of(word(r, i)) == BlockTag::Base) {
        bases[r.ring] = base_in(word(r, i));
        continue;
      }
      const BlockCall call = block_call(word(r, i), bases[r.ring]);
      calls.push_back({call.tag, forms[r.ring][call.form], call.address, call.bytes});
      rings.push_back(r.ring);
    }
  }
};

// Records a call at random: from one of some hundred places, so that forms change hands, of blocks in three heaps.
inline Told tell(std::mt19937_64& random) {
  constexpr gt::api::AllocFn Fns[] = {gt::api::AllocFn::Malloc, gt::api::AllocFn::Free, gt::api::AllocFn::DeleteSized};
  const gt::api::AllocFn fn = Fns[random() % 3];
  const uint64_t site = 0x401000 + random() % 400 * 12, heap = random() % 50 ? 0x555500000000 : random() % 3 << 44;
  const uint64_t address = heap + (1 + random() % 1000) * 16;
  const BlockTag tag = block_tag(fn);
  const uint64_t bytes = tag == BlockTag::Freed ? 0 : random() % 65536;
  REQUIRE(record_block(tag, fn, site, address, bytes));
  return {tag, block_form(fn, site), address, bytes};
}

}  // namespace gt::tracer
