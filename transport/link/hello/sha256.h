// SHA-256 (FIPS 180-4) and HMAC (FIPS 198-1): what tokens are proved with. Two kilobytes are hashed for a connection,
// so it is written to be short. Ours, because programs that use plain TCP are not to load OpenSSL.
// Thread safety: values.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "traces/base/bytes.h"

namespace gt::wire {

using Digest = std::array<uint8_t, 32>;

class Sha256 {
 public:
  void add(ByteView bytes);
  // Once; nothing may be added afterwards.
  Digest finish();

 private:
  void add_block(const uint8_t* block);

  std::array<uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> block_{};
  uint64_t bytes_ = 0;
};

// Of the parts, one after the other.
Digest hmac_sha256(ByteView key, std::span<const ByteView> parts);

// Two small digits for each byte.
std::string hex_text(ByteView bytes);

// Takes the same time wherever they differ.
bool same_digest(const Digest& a, const Digest& b);

}  // namespace gt::wire
