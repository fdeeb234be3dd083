// Compressed pieces: what comes out is what went in, and whatever a stranger sends is refused or has the right size.
#include "transport/chunks/piece_pack.h"

#include <doctest/doctest.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "tests/random_bytes.h"
#include "transport/chunks/chunk_packer.h"

namespace gt::chunks {
namespace {

// Of one kind of data or another: random, constant, text, numbers that change slowly.
Bytes some_data(std::mt19937& random, size_t bytes) {
  Bytes data(bytes);
  const unsigned kind = static_cast<unsigned>(random() % 5);
  if (kind == 0) testing::randomize(random, data);
  if (kind == 1) std::ranges::fill(data, static_cast<uint8_t>(random()));
  if (kind == 2)
    for (uint8_t& byte : data) byte = static_cast<uint8_t>("etaoin shrdlu"[random() % 13]);
  if (kind >= 3) {
    double number = 1000;
    const size_t element = kind == 3 ? sizeof(float) : sizeof number;
    for (size_t at = 0; at + element <= bytes; at += element, number += 0.001 * static_cast<double>(random() % 100)) {
      const auto small = static_cast<float>(number);
      kind == 3 ? std::memcpy(data.data() + at, &small, element) : std::memcpy(data.data() + at, &number, element);
    }
  }
  return data;
}

// Bytes behind a piece that must stay as they are.
struct Guarded {
  explicit Guarded(size_t bytes) : all(bytes + 64, 0xa5), bytes_(bytes) {}
  std::span<uint8_t> piece() { return std::span(all).first(bytes_); }
  bool is_sound() const {
    return std::all_of(all.begin() + static_cast<long>(bytes_), all.end(), [](uint8_t b) { return b == 0xa5; });
  }
  Bytes all;

 private:
  size_t bytes_;
};

TEST_CASE("a piece comes out as it went in, of any length, as any element, at any level") {
  PiecePacker packer;
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    const size_t bytes = i < 100 ? static_cast<size_t>(i + 1) : 1 + random() % PieceBytes;
    const Bytes piece = some_data(random, bytes);
    for (const uint8_t element : Elements) {
      Guarded to(bytes + 100);
      const int level = 1 + static_cast<int>(random() % 5);
      const size_t n = packer.pack(piece, element, level, to.piece());
      CHECK(to.is_sound());
      if (n == 0) continue;  // it does not compress
      Guarded back(bytes);
      REQUIRE(packer.unpack(ByteView(to.all).first(n), back.piece()));
      REQUIRE(std::ranges::equal(back.piece(), piece));
      CHECK(back.is_sound());
    }
  }
}

TEST_CASE("numbers whose bytes stand together take less") {
  PiecePacker packer;
  Bytes piece(PieceBytes), to(PieceBytes);
  for (size_t i = 0; i < PieceBytes / sizeof(float); ++i) {
    const float number = 100 + static_cast<float>(i) * 0.37f;
    std::memcpy(piece.data() + i * sizeof number, &number, sizeof number);
  }
  const size_t as_bytes = packer.pack(piece, 1, 1, to), as_floats = packer.pack(piece, 4, 1, to);
  CHECK(as_floats > 0);
  CHECK(as_floats * 10 < as_bytes * 9);
}

TEST_CASE("a size that lies, a bomb, a frame that is cut short, or one with something behind it: refused") {
  PiecePacker packer;
  std::mt19937 random(2);
  const auto refused = [&](ByteView packed, size_t bytes) {
    Guarded to(bytes);
    const bool taken = packer.unpack(packed, to.piece());
    CHECK(to.is_sound());
    return !taken;
  };
  const Bytes piece(PieceBytes, 7);
  Bytes packed(PieceBytes);
  packed.resize(packer.pack(piece, 4, 1, packed));
  REQUIRE(packed.size() > 4);
  CHECK_FALSE(refused(packed, PieceBytes));
  CHECK(refused(packed, PieceBytes - 1));
  CHECK(refused(packed, PieceBytes / 2));
  CHECK(refused(packed, 0));
  for (size_t n = 0; n < packed.size(); ++n) CHECK(refused(ByteView(packed).first(n), PieceBytes));
  Bytes longer = packed;
  longer.push_back(0);
  CHECK(refused(longer, PieceBytes));
  longer = packed;
  longer.insert(longer.end(), packed.begin() + 1, packed.end());  // a second frame
  CHECK(refused(longer, PieceBytes));
  for (const int element : {0, 2, 3, 5, 16, 255}) {
    Bytes other = packed;
    other[0] = static_cast<uint8_t>(element);
    CHECK(refused(other, PieceBytes));
  }
  // Megabytes of zeros in some hundred bytes, where a piece is due: with their size, and as a stream without one.
  const Bytes zeros(size_t{8} << 20);
  Bytes bomb(ZSTD_compressBound(zeros.size()) + 1);
  bomb[0] = 1;
  bomb.resize(1 + ZSTD_compress(bomb.data() + 1, bomb.size() - 1, zeros.data(), zeros.size(), 1));
  CHECK(refused(bomb, PieceBytes));
  ZSTD_CCtx* const stream = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(stream, ZSTD_c_contentSizeFlag, 0);
  bomb.resize(ZSTD_compressBound(zeros.size()) + 1);
  bomb.resize(1 + ZSTD_compress2(stream, bomb.data() + 1, bomb.size() - 1, zeros.data(), zeros.size()));
  ZSTD_freeCCtx(stream);
  CHECK(refused(bomb, PieceBytes));
  // The frame's own size says what a piece has, and its blocks more or less.
  for (int i = 0; i < 2000; ++i) {
    Bytes damaged = packed;
    for (int k = 0; k < 3; ++k) damaged[random() % damaged.size()] = static_cast<uint8_t>(random());
    Guarded to(PieceBytes);
    (void)packer.unpack(damaged, to.piece());
    REQUIRE(to.is_sound());
  }
}

TEST_CASE("chunks of pieces, packed or not") {
  ChunkPacker packer;
  PiecePacker unpacker;
  std::mt19937 random(3);
  packer.open(Packing::always(1));
  Bytes packed;
  for (int i = 0; i < 100; ++i) {
    const size_t bytes = 1 + random() % (5 * PieceBytes);
    Bytes chunk;
    while (chunk.size() < bytes) {
      const Bytes part = some_data(random, std::min<size_t>(PieceBytes, bytes - chunk.size()));
      chunk.insert(chunk.end(), part.begin(), part.end());
    }
    const size_t n = packer.pack_chunk(chunk, packed);
    CHECK(n < chunk.size());
    if (n == 0) continue;
    Guarded to(bytes);
    REQUIRE(unpack_chunk(unpacker, ByteView(packed).first(n), to.piece()));
    REQUIRE(std::ranges::equal(to.piece(), chunk));
    for (const size_t wrong : {n - 1, n / 2, size_t{4}, size_t{0}})
      CHECK_FALSE(unpack_chunk(unpacker, ByteView(packed).first(wrong), to.piece()));
    CHECK_FALSE(unpack_chunk(unpacker, ByteView(packed).first(n), to.piece().first(bytes - 1)));
    CHECK(to.is_sound());
  }
}

TEST_CASE("never: nothing is packed") {
  ChunkPacker packer;
  const Bytes zeros(PieceBytes);
  Bytes to(PieceBytes);
  CHECK(packer.pack(zeros, to) == 0);
  packer.open(Packing::automatic());
  CHECK(packer.pack(zeros, to) == 0);  // the link is not known
}

}  // namespace
}  // namespace gt::chunks
