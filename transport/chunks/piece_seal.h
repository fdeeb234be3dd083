// What tells whether a piece that a store gives back is the one that was put there under its name: a number of both for
// which nobody can make another piece who does not know the key, and no client does.
//
// GMAC (AES-256-GCM of nothing, NIST SP 800-38D) by the system's libcrypto: four times as fast as a name. Its nonce is
// the beginning of the name: another one for other bytes, as it must be, for seals lie in the file beside the pieces.
// Thread safety: an object belongs to one thread.
#pragma once

#include <array>
#include <cstdint>

#include "transport/chunks/piece_name.h"

namespace gt::chunks {

using Seal = std::array<uint8_t, 16>;
using Salt = std::array<uint8_t, 32>;  // random, of one store

class PieceSealer {
 public:
  // REQUIRES: PieceNamer::available().
  PieceSealer(const Key& key, const Salt& salt);
  ~PieceSealer();
  PieceSealer(const PieceSealer&) = delete;
  PieceSealer& operator=(const PieceSealer&) = delete;

  // That these are the bytes of this name.
  Seal seal(ByteView piece, const Name& name);

 private:
  std::array<uint8_t, 32> key_;
  void* context_;
};

}  // namespace gt::chunks
