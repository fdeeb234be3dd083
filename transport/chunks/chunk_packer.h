// Which pieces of what is sent go compressed, and how: the account (pack_account.h) says whether the next is tried, a
// sample of it as what kind of numbers its bytes are looked at, and whether it is worth more than the sample.
//
// Thread safety: none. Cost: of a piece that does not compress a sample of 16 KiB, some 50 us, and that rarely.
#pragma once

#include <memory>
#include <optional>

#include "transport/chunks/pack_account.h"
#include "transport/chunks/piece_pack.h"

namespace gt::chunks {

class ChunkPacker {
 public:
  // Without libzstd nothing is compressed. May be called again.
  void open(Packing packing);
  PackAccount& account() { return account_; }
  // How much of `to` it takes, less than the piece; 0: it goes as it is. REQUIRES: `to` is as large as the piece, which
  // has PieceBytes at most.
  size_t pack(ByteView piece, std::span<uint8_t> to);
  // The same of a chunk: as a packed chunk (piece_pack.h) at the beginning of `to`, which becomes larger where it must.
  size_t pack_chunk(ByteView chunk, std::vector<uint8_t>& to);

 private:
  size_t look(ByteView piece);
  size_t packed(ByteView piece, std::span<uint8_t> to);

  PackAccount account_{Packing()};
  std::optional<PiecePacker> packer_;
  std::vector<uint8_t> sample_, packed_sample_;
  uint8_t element_ = 0;      // 0: it is not known what the bytes are
  double share_ = 1;         // of a piece that was left of the last one
  unsigned since_look_ = 0;  // pieces
};

}  // namespace gt::chunks
