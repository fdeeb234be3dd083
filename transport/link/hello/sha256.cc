// Message schedule and compression as in FIPS 180-4, section 6.2.
#include "transport/link/hello/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace gt::wire {
namespace {

constexpr std::array<uint32_t, 64> K = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void store_big_endian(uint32_t v, uint8_t* to) {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<uint8_t>(v >> (24 - 8 * i));
}
uint32_t load_big_endian(const uint8_t* p) {
  return uint32_t{p[0]} << 24 | uint32_t{p[1]} << 16 | uint32_t{p[2]} << 8 | p[3];
}

}  // namespace

void Sha256::add_block(const uint8_t* block) {
  using std::rotr;
  uint32_t w[64];
  for (int t = 0; t < 16; ++t) w[t] = load_big_endian(block + 4 * t);
  for (int t = 16; t < 64; ++t) {
    const uint32_t s0 = rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
    const uint32_t s1 = rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);
    w[t] = w[t - 16] + s0 + w[t - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (int t = 0; t < 64; ++t) {
    const uint32_t t1 = h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & f) ^ (~e & g)) + K[t] + w[t];
    const uint32_t t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const uint32_t sums[] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i) state_[i] += sums[i];
}

void Sha256::add(ByteView bytes) {
  while (!bytes.empty()) {
    const size_t used = bytes_ % block_.size(), n = std::min(bytes.size(), block_.size() - used);
    std::memcpy(block_.data() + used, bytes.data(), n);
    bytes_ += n;
    bytes = bytes.subspan(n);
    if (used + n == block_.size()) add_block(block_.data());
  }
}

Digest Sha256::finish() {
  const uint64_t bits = bytes_ * 8;
  const uint8_t padding[64] = {0x80};
  const size_t used = bytes_ % 64;
  add({padding, used < 56 ? 56 - used : 120 - used});
  uint8_t length[8];
  store_big_endian(static_cast<uint32_t>(bits >> 32), length);
  store_big_endian(static_cast<uint32_t>(bits), length + 4);
  add(length);
  Digest digest;
  for (int i = 0; i < 8; ++i) store_big_endian(state_[i], digest.data() + 4 * i);
  return digest;
}

Digest hmac_sha256(ByteView key, std::span<const ByteView> parts) {
  std::array<uint8_t, 64> inner{}, outer{};
  Digest short_key;
  if (key.size() > inner.size()) {
    Sha256 hash;
    hash.add(key);
    short_key = hash.finish();
    key = short_key;
  }
  std::copy(key.begin(), key.end(), inner.begin());
  outer = inner;
  for (uint8_t& byte : inner) byte ^= 0x36;
  for (uint8_t& byte : outer) byte ^= 0x5c;
  Sha256 hash;
  hash.add(inner);
  for (const ByteView part : parts) hash.add(part);
  const Digest digest = hash.finish();
  Sha256 again;
  again.add(outer);
  again.add(digest);
  return again.finish();
}

std::string hex_text(ByteView bytes) {
  constexpr const char* Digits = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : bytes) {
    text += Digits[byte >> 4];
    text += Digits[byte & 15];
  }
  return text;
}

bool same_digest(const Digest& a, const Digest& b) {
  uint8_t difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference = static_cast<uint8_t>(difference | (a[i] ^ b[i]));
  return difference == 0;
}

}  // namespace gt::wire
