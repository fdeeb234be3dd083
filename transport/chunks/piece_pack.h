// Pieces of data as they travel where the link is slower than a processor: compressed, each for itself.
//
//   packed piece    [element: 1 byte][a frame of zstd's that says its size]
//   packed chunk    [a 32-bit number for each piece: its packed bytes, 0: as it is][the pieces]
//
// `element` > 1: the piece is numbers of so many bytes. Their first bytes stand together, then their second ones, and
// so on; what is left over stands behind. Of floating-point numbers the parts that are alike so become neighbours.
//
// Unpacking trusts nothing: it gives the bytes that were asked for, as many as were asked for, or says that it cannot,
// and takes no memory of which a stranger says how much. libzstd is loaded when the first piece is packed or unpacked,
// so programs whose data is not compressed do not have it.
// Thread safety: functions from any thread; objects belong to one.
// Cost: 1 to 4 ns a byte to pack, by level and data, half a ns to unpack.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "traces/base/bytes.h"
#include "traces/base/status.h"
#include "transport/chunks/piece_name.h"

namespace gt::chunks {

// Of the elements that pieces are looked at as; 1: as bytes.
constexpr std::array<uint8_t, 3> Elements = {1, 4, 8};

class PiecePacker {
 public:
  // Unsupported: there is no libzstd here.
  static Status available();
  // REQUIRES: available().
  PiecePacker();
  ~PiecePacker();
  PiecePacker(const PiecePacker&) = delete;
  PiecePacker& operator=(const PiecePacker&) = delete;

  // How much of `to` the packed piece takes; 0: it does not fit. REQUIRES: a piece of PieceBytes at most.
  size_t pack(ByteView piece, uint8_t element, int level, std::span<uint8_t> to);
  // False: `packed` is no packed piece of to.size() bytes; `to` may have changed. They must not overlap.
  bool unpack(ByteView packed, std::span<uint8_t> to);

 private:
  void* compression_ = nullptr;
  void* decompression_ = nullptr;
  std::vector<uint8_t> moved_;  // a piece whose elements' bytes stand together
};

// A chunk whose pieces are packed or not, in one range of bytes.
constexpr size_t pieces_of(uint64_t chunk_bytes) { return (chunk_bytes + PieceBytes - 1) / PieceBytes; }
constexpr uint64_t piece_bytes(uint64_t chunk_bytes, size_t piece) {
  const uint64_t left = chunk_bytes - piece * uint64_t{PieceBytes};
  return left < PieceBytes ? left : PieceBytes;
}
// False: `packed` is no packed chunk of to.size() bytes.
bool unpack_chunk(PiecePacker& packer, ByteView packed, std::span<uint8_t> to);

}  // namespace gt::chunks
