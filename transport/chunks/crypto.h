// The functions of the system's libcrypto (OpenSSL 3) that pieces are named and sealed with. It is loaded when it is
// first asked for.
// Thread safety: any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "traces/base/status.h"

namespace gt::chunks {

//   result, name, parameters
#define GT_CRYPTO(F)                                                                                  \
  F(int, OPENSSL_init_crypto, (uint64_t, const void*))                                                \
  F(void*, EVP_MD_CTX_new, ())                                                                        \
  F(void, EVP_MD_CTX_free, (void*))                                                                   \
  F(const void*, EVP_sha256, ())                                                                      \
  F(int, EVP_DigestInit_ex, (void*, const void*, void*))                                              \
  F(int, EVP_DigestUpdate, (void*, const void*, size_t))                                              \
  F(int, EVP_DigestFinal_ex, (void*, unsigned char*, unsigned int*))                                  \
  F(void*, EVP_CIPHER_CTX_new, ())                                                                    \
  F(void, EVP_CIPHER_CTX_free, (void*))                                                               \
  F(int, EVP_CIPHER_CTX_ctrl, (void*, int, int, void*))                                               \
  F(const void*, EVP_aes_256_gcm, ())                                                                 \
  F(int, EVP_EncryptInit_ex, (void*, const void*, void*, const unsigned char*, const unsigned char*)) \
  F(int, EVP_EncryptUpdate, (void*, unsigned char*, int*, const unsigned char*, int))                 \
  F(int, EVP_EncryptFinal_ex, (void*, unsigned char*, int*))

struct Crypto {
#define GT_FIELD(result, name, parameters) result(*name) parameters = nullptr;
  GT_CRYPTO(GT_FIELD)
#undef GT_FIELD
  std::string missing;

  Crypto();
};

const Crypto& crypto();
// Unsupported: there is no OpenSSL 3 here.
Status crypto_available();

}  // namespace gt::chunks
