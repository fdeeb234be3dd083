// Block words: the records of memory calls that only make a small block, or only give one back. 8 bytes a call.
//
// Programs make such calls by the million, so they have no RecordHeader. A word in a ring whose lowest three bits are
// zero begins a record (its length is a multiple of 8); any other is a word by itself, with a tag in those bits:
//   Made, Freed, FreedSized   one call: what, from where (a form: function and site), how many bytes, where
//   Base                      the upper bits of the addresses that follow, until the next Base of the ring; and those
//                             before
//   Ticks                     when the call behind it was made
// A call without Ticks before it was made one tick after what lies before it in the ring.
// A form is a number that a BlockForm record gives to a function and a site, until it gives it to others; forms and
// base belong to the ring and are forgotten when it gets another owner. BlockForm and Base say what they replace, so
// that a reader who comes late can go back from what the ring's header says (SpoolReader::open).
// FreedSized is a Freed with the size that the program named.
// Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "traces/api/alloc_fn.h"

namespace gt::tracer {

enum class BlockTag : uint8_t { None, Made, Freed, FreedSized, Base, Ticks };

// |63        27|26      11|10    3|2  0|
// | address    | bytes    | form  | tag|
// Addresses are multiples of 16: their bits 4 to 40 are here, those above in Base.
constexpr unsigned TagBits = 3, FormBits = 8, SizeBits = 16;
constexpr unsigned AddressBits = 64 - TagBits - FormBits - SizeBits;
constexpr unsigned AlignBits = 4, BaseShift = AlignBits + AddressBits;
constexpr uint32_t BlockFormCount = 1u << FormBits;

struct BlockCall {
  BlockTag tag;
  uint32_t form;
  uint64_t bytes;
  uint64_t address;
};

constexpr BlockTag tag_of(uint64_t word) { return static_cast<BlockTag>(word & 7); }
constexpr bool is_block_call(BlockTag tag) { return tag >= BlockTag::Made && tag <= BlockTag::FreedSized; }

// Can this block be told in a word? Its Base may have to come first.
constexpr bool fits_block_word(uint64_t address, uint64_t bytes) {
  return address != 0 && (address & ((1u << AlignBits) - 1)) == 0 && bytes >> SizeBits == 0;
}
constexpr uint64_t base_of(uint64_t address) { return address >> BaseShift; }

// REQUIRES: fits_block_word(address, bytes); form < BlockFormCount.
constexpr uint64_t block_word(BlockTag tag, uint32_t form, uint64_t address, uint64_t bytes) {
  return static_cast<uint64_t>(tag) | uint64_t{form} << TagBits | bytes << (TagBits + FormBits) |
         address >> AlignBits << (TagBits + FormBits + SizeBits);
}
constexpr unsigned BaseBits = 64 - BaseShift;
constexpr uint64_t base_word(uint64_t base, uint64_t before) {
  return (before << BaseBits | base) << TagBits | static_cast<uint64_t>(BlockTag::Base);
}
constexpr uint64_t base_in(uint64_t word) { return word >> TagBits & ((uint64_t{1} << BaseBits) - 1); }
constexpr uint64_t base_before(uint64_t word) { return word >> (TagBits + BaseBits); }
constexpr uint64_t ticks_word(uint64_t ticks) { return ticks << TagBits | static_cast<uint64_t>(BlockTag::Ticks); }
constexpr uint64_t ticks_in(uint64_t word) { return word >> TagBits; }

constexpr BlockCall block_call(uint64_t word, uint64_t base) {
  return {tag_of(word), static_cast<uint32_t>(word >> TagBits) & (BlockFormCount - 1),
          word >> (TagBits + FormBits) & ((uint64_t{1} << SizeBits) - 1),
          word >> (TagBits + FormBits + SizeBits) << AlignBits | base << BaseShift};
}

// How the calls of a function are told: by one of the first three tags, or (None) by longer records.
constexpr BlockTag block_tag(api::AllocFn fn) {
  using enum api::AllocFn;
  switch (fn) {
    case Malloc:
    case New:
    case NewArray:
    case NewNothrow:
    case NewArrayNothrow:
      return BlockTag::Made;
    case Free:
    case Cfree:
    case Delete:
    case DeleteArray:
    case DeleteNothrow:
    case DeleteArrayNothrow:
      return BlockTag::Freed;
    case DeleteSized:
    case DeleteArraySized:
      return BlockTag::FreedSized;
    default:
      return BlockTag::None;
  }
}

// Function and site in one word, as a BlockForm has them. Code lies in the lower half of the address space.
constexpr uint64_t block_form(api::AllocFn fn, uint64_t site) { return site << 16 | static_cast<uint16_t>(fn); }
constexpr uint32_t form_slot(uint64_t form) {
  return static_cast<uint32_t>(form * 0x9e3779b97f4a7c15u >> (64 - FormBits));
}

}  // namespace gt::tracer
