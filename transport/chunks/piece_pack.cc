#include "transport/chunks/piece_pack.h"

#include <dlfcn.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string>

namespace gt::chunks {
namespace {

#define GT_ZSTD(F)                \
  F(ZSTD_createCCtx)              \
  F(ZSTD_freeCCtx)                \
  F(ZSTD_createDCtx)              \
  F(ZSTD_freeDCtx)                \
  F(ZSTD_compressCCtx)            \
  F(ZSTD_decompressDCtx)          \
  F(ZSTD_findFrameCompressedSize) \
  F(ZSTD_getFrameContentSize)     \
  F(ZSTD_isError)

struct Zstd {
#define GT_FIELD(name) decltype(&::name) name = nullptr;
  GT_ZSTD(GT_FIELD)
#undef GT_FIELD
  std::string missing;

  Zstd() {
    void* const library = ::dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      missing = "libzstd.so.1";
      return;
    }
#define GT_LOAD(name)                                               \
  name = reinterpret_cast<decltype(name)>(::dlsym(library, #name)); \
  if (!name) missing = #name " of libzstd 1.4";
    GT_ZSTD(GT_LOAD)
#undef GT_LOAD
  }
};

const Zstd& zstd() {
  static const Zstd& loaded = *new Zstd;
  return loaded;
}

bool is_element(uint8_t element) { return std::ranges::find(Elements, element) != Elements.end(); }

// Sixteen numbers at a time: vectors of their bytes are split into what stands at even and at odd places, again and
// again, until each has one byte of all sixteen. They come out in the order of their numbers read backwards, bit by
// bit.
using Vector = uint8_t __attribute__((vector_size(16)));

Vector evens(Vector a, Vector b) {
  return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
}
Vector odds(Vector a, Vector b) {
  return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
}
Vector first_halves(Vector a, Vector b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
Vector second_halves(Vector a, Vector b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

template <size_t Element>
constexpr std::array<size_t, Element> backwards() {
  std::array<size_t, Element> order{};
  for (size_t i = 0; i < Element; ++i)
    for (size_t bit = 1; bit < Element; bit *= 2) order[i] = order[i] * 2 + (i / bit) % 2;
  return order;
}

template <size_t Element>
void gather_16(const uint8_t* from, uint8_t* to, size_t count) {
  Vector v[Element], split[Element];
  std::memcpy(v, from, sizeof v);
  for (size_t width = Element; width > 1; width /= 2) {
    for (size_t at = 0; at < Element; at += width)
      for (size_t k = 0; k < width / 2; ++k) {
        split[at + k] = evens(v[at + 2 * k], v[at + 2 * k + 1]);
        split[at + width / 2 + k] = odds(v[at + 2 * k], v[at + 2 * k + 1]);
      }
    std::memcpy(v, split, sizeof v);
  }
  for (size_t i = 0; i < Element; ++i) std::memcpy(to + backwards<Element>()[i] * count, &v[i], sizeof v[i]);
}

template <size_t Element>
void scatter_16(const uint8_t* from, uint8_t* to, size_t count) {
  Vector v[Element], merged[Element];
  for (size_t i = 0; i < Element; ++i) std::memcpy(&v[i], from + backwards<Element>()[i] * count, sizeof v[i]);
  for (size_t width = 2; width <= Element; width *= 2) {
    for (size_t at = 0; at < Element; at += width)
      for (size_t k = 0; k < width / 2; ++k) {
        merged[at + 2 * k] = first_halves(v[at + k], v[at + width / 2 + k]);
        merged[at + 2 * k + 1] = second_halves(v[at + k], v[at + width / 2 + k]);
      }
    std::memcpy(v, merged, sizeof v);
  }
  std::memcpy(to, v, sizeof v);
}

// Of each group of Element bytes the first go together, then the second ones.
template <size_t Element>
void gather(const uint8_t* from, uint8_t* to, size_t count) {
  size_t i = 0;
  for (; i + 16 <= count; i += 16) gather_16<Element>(from + i * Element, to + i, count);
  for (; i < count; ++i)
    for (size_t b = 0; b < Element; ++b) to[b * count + i] = from[i * Element + b];
}
template <size_t Element>
void scatter(const uint8_t* from, uint8_t* to, size_t count) {
  size_t i = 0;
  for (; i + 16 <= count; i += 16) scatter_16<Element>(from + i, to + i * Element, count);
  for (; i < count; ++i)
    for (size_t b = 0; b < Element; ++b) to[i * Element + b] = from[b * count + i];
}

void gather(ByteView from, uint8_t* to, uint8_t element) {
  const size_t count = from.size() / element, left = from.size() % element;
  element == 4 ? gather<4>(from.data(), to, count) : gather<8>(from.data(), to, count);
  std::memcpy(to + from.size() - left, from.data() + from.size() - left, left);
}
void scatter(const uint8_t* from, std::span<uint8_t> to, uint8_t element) {
  const size_t count = to.size() / element, left = to.size() % element;
  element == 4 ? scatter<4>(from, to.data(), count) : scatter<8>(from, to.data(), count);
  std::memcpy(to.data() + to.size() - left, from + to.size() - left, left);
}

}  // namespace

Status PiecePacker::available() {
  if (zstd().missing.empty()) return {};
  return {Kind::Unsupported, "compressed data needs libzstd, and " + zstd().missing + " is not there"};
}

PiecePacker::PiecePacker() : compression_(zstd().ZSTD_createCCtx()), decompression_(zstd().ZSTD_createDCtx()) {
  if (!compression_ || !decompression_) throw std::bad_alloc();
}

PiecePacker::~PiecePacker() {
  zstd().ZSTD_freeCCtx(static_cast<ZSTD_CCtx*>(compression_));
  zstd().ZSTD_freeDCtx(static_cast<ZSTD_DCtx*>(decompression_));
}

size_t PiecePacker::pack(ByteView piece, uint8_t element, int level, std::span<uint8_t> to) {
  if (piece.empty() || to.size() < 2) return 0;
  const uint8_t* from = piece.data();
  if (element > 1) {
    moved_.resize(PieceBytes);
    gather(piece, moved_.data(), element);
    from = moved_.data();
  }
  to[0] = element;
  const size_t n = zstd().ZSTD_compressCCtx(static_cast<ZSTD_CCtx*>(compression_), to.data() + 1, to.size() - 1, from,
                                            piece.size(), level);
  return zstd().ZSTD_isError(n) ? 0 : n + 1;
}

bool PiecePacker::unpack(ByteView packed, std::span<uint8_t> to) {
  if (packed.size() < 2 || to.empty() || to.size() > PieceBytes || !is_element(packed[0])) return false;
  const uint8_t element = packed[0];
  const ByteView frame = packed.subspan(1);
  // One frame and nothing behind it; of what is wanted, whatever it would grow to.
  if (zstd().ZSTD_getFrameContentSize(frame.data(), frame.size()) != to.size()) return false;
  if (zstd().ZSTD_findFrameCompressedSize(frame.data(), frame.size()) != frame.size()) return false;
  if (element > 1) moved_.resize(PieceBytes);
  uint8_t* const at = element > 1 ? moved_.data() : to.data();
  const size_t n =
      zstd().ZSTD_decompressDCtx(static_cast<ZSTD_DCtx*>(decompression_), at, to.size(), frame.data(), frame.size());
  if (n != to.size()) return false;
  if (element > 1) scatter(at, to, element);
  return true;
}

bool unpack_chunk(PiecePacker& packer, ByteView packed, std::span<uint8_t> to) {
  const size_t pieces = pieces_of(to.size());
  if (packed.size() < pieces * sizeof(uint32_t)) return false;
  ByteView rest = packed.subspan(pieces * sizeof(uint32_t));
  for (size_t i = 0; i < pieces; ++i) {
    uint32_t bytes = 0;
    std::memcpy(&bytes, packed.data() + i * sizeof bytes, sizeof bytes);
    const std::span<uint8_t> piece = to.subspan(i * PieceBytes, piece_bytes(to.size(), i));
    const size_t taken = bytes ? bytes : piece.size();
    if (taken > rest.size()) return false;
    if (bytes && !packer.unpack(rest.first(taken), piece)) return false;
    if (!bytes) std::memcpy(piece.data(), rest.data(), taken);
    rest = rest.subspan(taken);
  }
  return rest.empty();
}

}  // namespace gt::chunks
