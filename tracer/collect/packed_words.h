// Block words packed at the speed of memory: the parts of each in as many bits as 64 neighbours need.
//
//   packed := number of codes  each code in 2 bytes  block of 64 words ...  16 bytes of padding
//   block  := width of sizes  width of addresses  the words' bits: code's number, size, step from the address before
// A code is form and tag. 64-bit words of any content; those of block_words.h take 2 to 4 bytes. zstd, of whichever
// columns and at its fastest, takes 4 to 40 ns more a word and saves a byte or two, which nobody keeps for long.
// Thread safety: functions are independent. Cost: some 2 ns a word.
#pragma once

#include <span>
#include <vector>

#include "traces/base/bytes.h"

namespace gt::tracer {

// Behind what `out` holds.
void pack_words(std::span<const uint64_t> words, Bytes& out);
// False: damaged.
bool unpack_words(ByteView packed, size_t count, std::vector<uint64_t>& words);

}  // namespace gt::tracer
