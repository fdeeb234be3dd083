#include "transport/chunks/piece_name.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "transport/chunks/crypto.h"
#include "transport/link/hello/sha256.h"

namespace gt::chunks {
namespace {

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

Status PieceNamer::available() { return crypto_available(); }

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
