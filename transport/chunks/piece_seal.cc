#include "transport/chunks/piece_seal.h"

#include <new>

#include "transport/chunks/crypto.h"
#include "transport/link/hello/sha256.h"

namespace gt::chunks {
namespace {

std::array<uint8_t, 32> sealing_key(const Key& key, const Salt& salt) {
  const ByteView parts[] = {as_bytes("gtrace seals of pieces"), salt};
  return wire::hmac_sha256(key, parts);
}

}  // namespace

PieceSealer::PieceSealer(const Key& key, const Salt& salt)
    : key_(sealing_key(key, salt)), context_(crypto().EVP_CIPHER_CTX_new()) {
  if (!context_) throw std::bad_alloc();
}

PieceSealer::~PieceSealer() { crypto().EVP_CIPHER_CTX_free(context_); }

Seal PieceSealer::seal(ByteView piece, const Name& name) {
  constexpr int GetTag = 0x10;
  static_assert(sizeof(Name) >= 12);  // GCM's nonce
  const Crypto& c = crypto();
  Seal seal{};
  unsigned char none[16];
  int n = 0;
  const bool done = c.EVP_EncryptInit_ex(context_, c.EVP_aes_256_gcm(), nullptr, key_.data(), name.data()) == 1 &&
                    c.EVP_EncryptUpdate(context_, nullptr, &n, name.data(), static_cast<int>(name.size())) == 1 &&
                    c.EVP_EncryptUpdate(context_, nullptr, &n, piece.data(), static_cast<int>(piece.size())) == 1 &&
                    c.EVP_EncryptFinal_ex(context_, none, &n) == 1 &&
                    c.EVP_CIPHER_CTX_ctrl(context_, GetTag, static_cast<int>(seal.size()), seal.data()) == 1;
  if (!done) throw std::bad_alloc();
  return seal;
}

}  // namespace gt::chunks
