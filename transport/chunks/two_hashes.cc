// FIPS 180-4. The instructions want the eight words of the state as ABEF and CDGH, the highest first.
#include "transport/chunks/two_hashes.h"

#include <algorithm>
#include <cstring>

#include "transport/link/hello/sha256.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace gt::chunks {

#if defined(__x86_64__)
namespace {

#define GT_SHA __attribute__((target("sha,sse4.1")))

alignas(16) constexpr uint32_t Constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

constexpr int Lanes = 2;

struct State {
  __m128i abef[Lanes], cdgh[Lanes];
};

GT_SHA State initial() {
  const __m128i abef =
                    _mm_set_epi32(0x6a09e667, static_cast<int>(0xbb67ae85), 0x510e527f, static_cast<int>(0x9b05688c)),
                cdgh = _mm_set_epi32(0x3c6ef372, static_cast<int>(0xa54ff53a), 0x1f83d9ab, 0x5be0cd19);
  return {{abef, abef}, {cdgh, cdgh}};
}

// The next block of each lane.
GT_SHA void add_blocks(State& state, const uint8_t* const (&at)[Lanes]) {
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  State s = state;
  __m128i words[Lanes][4];
  for (int lane = 0; lane < Lanes; ++lane)
    for (int i = 0; i < 4; ++i)
      words[lane][i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at[lane]) + i), big_endian);
#pragma GCC unroll 16
  for (int round = 0; round < 16; ++round) {
    const __m128i constants = _mm_load_si128(reinterpret_cast<const __m128i*>(Constants) + round);
#pragma GCC unroll 2
    for (int lane = 0; lane < Lanes; ++lane) {
      __m128i(&w)[4] = words[lane];
      __m128i& now = w[round % 4];
      const __m128i sum = _mm_add_epi32(now, constants);
      s.cdgh[lane] = _mm_sha256rnds2_epu32(s.cdgh[lane], s.abef[lane], sum);
      s.abef[lane] = _mm_sha256rnds2_epu32(s.abef[lane], s.cdgh[lane], _mm_shuffle_epi32(sum, 0x0e));
      if (round >= 12) continue;
      const __m128i before = w[(round + 3) % 4];  // the words 4 ahead, of which those in between are made, too
      const __m128i part =
          _mm_add_epi32(_mm_sha256msg1_epu32(now, w[(round + 1) % 4]), _mm_alignr_epi8(before, w[(round + 2) % 4], 4));
      now = _mm_sha256msg2_epu32(part, before);
    }
  }
  for (int lane = 0; lane < Lanes; ++lane) {
    state.abef[lane] = _mm_add_epi32(state.abef[lane], s.abef[lane]);
    state.cdgh[lane] = _mm_add_epi32(state.cdgh[lane], s.cdgh[lane]);
  }
}

GT_SHA TwoHashes::Digest digest(const State& state, int lane) {
  alignas(16) uint32_t abef[4], cdgh[4];
  _mm_store_si128(reinterpret_cast<__m128i*>(abef), state.abef[lane]);
  _mm_store_si128(reinterpret_cast<__m128i*>(cdgh), state.cdgh[lane]);
  const uint32_t words[8] = {abef[3], abef[2], cdgh[3], cdgh[2], abef[1], abef[0], cdgh[1], cdgh[0]};
  TwoHashes::Digest out;
  for (size_t i = 0; i < 8; ++i) {
    const uint32_t big_endian = __builtin_bswap32(words[i]);
    std::memcpy(out.data() + i * sizeof big_endian, &big_endian, sizeof big_endian);
  }
  return out;
}

// What stands behind whole blocks of so many bytes in all.
std::array<uint8_t, TwoHashes::Block> last_block(uint64_t bytes) {
  std::array<uint8_t, TwoHashes::Block> block{0x80};
  const uint64_t bits = __builtin_bswap64(bytes * 8);
  std::memcpy(block.data() + block.size() - sizeof bits, &bits, sizeof bits);
  return block;
}

bool has_instructions() {
  constexpr unsigned Sse41 = 1u << 19, Ssse3 = 1u << 9, Sha = 1u << 29;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || (c & (Sse41 | Ssse3)) != (Sse41 | Ssse3)) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & Sha) != 0;
}

}  // namespace

bool TwoHashes::available() {
  static const bool has = has_instructions();
  return has;
}

std::array<TwoHashes::Digest, 2> TwoHashes::of(ByteView head, ByteView a, ByteView b) {
  State state = initial();
  for (size_t at = 0; at < head.size(); at += Block) add_blocks(state, {head.data() + at, head.data() + at});
  for (size_t at = 0; at < a.size(); at += Block) add_blocks(state, {a.data() + at, b.data() + at});
  const auto last = last_block(head.size() + a.size());
  add_blocks(state, {last.data(), last.data()});
  return {digest(state, 0), digest(state, 1)};
}

#else

bool TwoHashes::available() { return false; }
std::array<TwoHashes::Digest, 2> TwoHashes::of(ByteView, ByteView, ByteView) { return {}; }

#endif

// HMAC (FIPS 198-1).
std::array<Name, 2> two_names(const Key& key, ByteView a, ByteView b) {
  std::array<uint8_t, TwoHashes::Block> inner{}, outer{};
  std::copy(key.begin(), key.end(), inner.begin());
  outer = inner;
  for (uint8_t& byte : inner) byte ^= 0x36;
  for (uint8_t& byte : outer) byte ^= 0x5c;
  std::array<Name, 2> names = TwoHashes::of(inner, a, b);
  for (Name& name : names) {
    wire::Sha256 hash;
    hash.add(outer);
    hash.add(name);
    name = hash.finish();
  }
  return names;
}

}  // namespace gt::chunks
