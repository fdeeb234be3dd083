// The names of pieces of data: a keyed hash, so that equal bytes of one owner have one name, and nobody who lacks the
// key can tell by a name, or by having something found under it, what the bytes are.
//
// HMAC-SHA256 by the system's libcrypto, which uses the processor's instructions (1.8 GB/s here); it is loaded when the
// first name is made, so programs whose data is not named do not have it.
// Thread safety: functions from any thread; a PieceNamer belongs to one.
#pragma once

#include <array>
#include <cstdint>

#include "traces/base/bytes.h"
#include "traces/base/status.h"

namespace gt::chunks {

// What is named at once: small enough that a change costs little, so large that names and messages cost nothing.
constexpr uint32_t PieceBytes = uint32_t{256} << 10;

using Name = std::array<uint8_t, 32>;
using Key = std::array<uint8_t, 32>;
using Owner = std::array<uint8_t, 32>;  // who has the key: names his store

// Of what proves to a proxy who somebody is: his token, or his private key. The same at all proxies.
Key key_of(ByteView secret);
// Tells nothing of the key.
Owner owner_of(const Key& key);

// What a summary holds of a name.
using ShortName = uint32_t;
ShortName shortened(const Name& name);

class PieceNamer {
 public:
  // Unsupported: there is no OpenSSL 3 here.
  static Status available();
  // REQUIRES: available().
  explicit PieceNamer(const Key& key);
  ~PieceNamer();
  PieceNamer(const PieceNamer&) = delete;
  PieceNamer& operator=(const PieceNamer&) = delete;

  Name name(ByteView piece);

 private:
  void hash(ByteView head, ByteView rest, Name& to);

  std::array<uint8_t, 64> inner_, outer_;
  void* context_;
};

}  // namespace gt::chunks
