#include "transport/chunks/piece_name.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "transport/link/hello/sha256.h"

namespace gt::chunks {
namespace {

//   result, name, parameters
#define GT_CRYPTO(F)                                                \
  F(int, OPENSSL_init_crypto, (uint64_t, const void*))              \
  F(void*, EVP_MD_CTX_new, ())                                      \
  F(void, EVP_MD_CTX_free, (void*))                                 \
  F(const void*, EVP_sha256, ())                                    \
  F(int, EVP_DigestInit_ex, (void*, const void*, void*))            \
  F(int, EVP_DigestUpdate, (void*, const void*, size_t))            \
  F(int, EVP_DigestFinal_ex, (void*, unsigned char*, unsigned int*))

struct Crypto {
#define GT_FIELD(result, name, parameters) result(*name) parameters = nullptr;
  GT_CRYPTO(GT_FIELD)
#undef GT_FIELD
  std::string missing;

  Crypto() {
    void* const library = ::dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      missing = "libcrypto.so.3";
      return;
    }
#define GT_LOAD(result, name, parameters)                                   \
  name = reinterpret_cast<decltype(name)>(::dlsym(library, #name));         \
  if (!name) missing = #name " of OpenSSL 3";
    GT_CRYPTO(GT_LOAD)
#undef GT_LOAD
    constexpr uint64_t NoExitHandler = 0x00080000;  // names are made until the process ends
    if (missing.empty()) OPENSSL_init_crypto(NoExitHandler, nullptr);
  }
};

const Crypto& crypto() {
  static const Crypto& loaded = *new Crypto;
  return loaded;
}

wire::Digest digest_of(ByteView key, std::string_view role) {
  const ByteView parts[] = {as_bytes(role)};
  return wire::hmac_sha256(key, parts);
}

}  // namespace

Key key_of(ByteView secret) { return digest_of(secret, "gtrace names of pieces"); }
Owner owner_of(const Key& key) { return digest_of(key, "gtrace owner of pieces"); }

ShortName shortened(const Name& name) {
  ShortName s;
  std::memcpy(&s, name.data(), sizeof s);
  return s;
}

Status PieceNamer::available() {
  if (crypto().missing.empty()) return {};
  return {Kind::Unsupported, "names of data need OpenSSL 3, and " + crypto().missing + " is not there"};
}

PieceNamer::PieceNamer(const Key& key) : inner_{}, outer_{}, context_(crypto().EVP_MD_CTX_new()) {
  if (!context_) throw std::bad_alloc();
  std::copy(key.begin(), key.end(), inner_.begin());
  outer_ = inner_;
  for (uint8_t& byte : inner_) byte ^= 0x36;
  for (uint8_t& byte : outer_) byte ^= 0x5c;
}

PieceNamer::~PieceNamer() { crypto().EVP_MD_CTX_free(context_); }

void PieceNamer::hash(ByteView head, ByteView rest, Name& to) {
  const Crypto& c = crypto();
  const bool done = c.EVP_DigestInit_ex(context_, c.EVP_sha256(), nullptr) == 1 &&
                    c.EVP_DigestUpdate(context_, head.data(), head.size()) == 1 &&
                    c.EVP_DigestUpdate(context_, rest.data(), rest.size()) == 1 &&
                    c.EVP_DigestFinal_ex(context_, to.data(), nullptr) == 1;
  if (!done) throw std::bad_alloc();
}

Name PieceNamer::name(ByteView piece) {
  Name name;
  hash(inner_, piece, name);
  hash(outer_, name, name);
  return name;
}

}  // namespace gt::chunks
