#include "tracer/collect/packed_words.h"

#include <algorithm>
#include <array>
#include <bit>

#include "tracer/lib/block_words.h"

namespace gt::tracer {

namespace {

// |63        27|26      11|10          0|
// | address    | bytes    | form and tag|
constexpr unsigned CodeBits = TagBits + FormBits, AddressAt = CodeBits + SizeBits;
constexpr size_t BlockWords = 64, Padding = 16;

uint64_t low_bits(uint64_t v, unsigned bits) { return bits < 64 ? v & ((uint64_t{1} << bits) - 1) : v; }
unsigned width_of(uint64_t all) { return static_cast<unsigned>(std::bit_width(all)); }

// The difference of two addresses as a small number, whichever is larger.
uint64_t address_step(uint64_t from, uint64_t to) {
  constexpr unsigned Above = 64 - AddressBits;
  return zigzag(static_cast<int64_t>((to - from) << Above) >> Above);
}

// Numbers for the codes that occur.
struct Codes {
  static constexpr uint16_t None = 0xffff;
  std::array<uint16_t, 1 << CodeBits> number;
  std::vector<uint16_t> all;

  explicit Codes(std::span<const uint64_t> words) {
    number.fill(None);
    for (const uint64_t word : words) {
      uint16_t& known = number[low_bits(word, CodeBits)];
      if (known != None) continue;
      known = static_cast<uint16_t>(all.size());
      all.push_back(static_cast<uint16_t>(low_bits(word, CodeBits)));
    }
  }
};
unsigned code_width(size_t codes) { return codes > 1 ? width_of(codes - 1) : 0; }

struct Widths {
  unsigned code, size, address;
  unsigned all() const { return code + size + address; }
  size_t bytes(size_t words) const { return (words * all() + 7) / 8; }
};

void put64(uint8_t* at, uint64_t v) { std::memcpy(at, &v, sizeof v); }
uint64_t get64(const uint8_t* at) {
  uint64_t v;
  std::memcpy(&v, at, sizeof v);
  return v;
}

// At most 7 bytes more than Widths::bytes() are written.
void put_fields(std::span<const uint64_t> fields, unsigned bits, uint8_t* to) {
  uint64_t filling = 0;
  unsigned filled = 0;
  for (const uint64_t field : fields) {
    filling |= field << filled;
    if (filled + bits < 64) {
      filled += bits;
      continue;
    }
    put64(to, filling);
    to += 8;
    filling = filled == 0 ? 0 : field >> (64 - filled);
    filled = filled + bits - 64;
  }
  put64(to, filling);
}

// REQUIRES: 9 bytes can be read there.
uint64_t get_field(const uint8_t* from, size_t bit, unsigned bits) {
  const uint8_t* const at = from + bit / 8;
  const unsigned skip = bit % 8;
  uint64_t field = get64(at) >> skip;
  if (skip + bits > 64) field |= uint64_t{at[8]} << (64 - skip);
  return low_bits(field, bits);
}

// Gives the address of the last one.
uint64_t pack_block(std::span<const uint64_t> words, const Codes& codes, uint64_t address, Bytes& out) {
  std::array<uint64_t, BlockWords> steps, fields;
  uint64_t all_sizes = 0, all_steps = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    const uint64_t next = words[i] >> AddressAt;
    steps[i] = address_step(address, next);
    address = next;
    all_steps |= steps[i];
    all_sizes |= low_bits(words[i] >> CodeBits, SizeBits);
  }
  const Widths w{code_width(codes.all.size()), width_of(all_sizes), width_of(all_steps)};
  for (size_t i = 0; i < words.size(); ++i) {
    const uint64_t size = low_bits(words[i] >> CodeBits, SizeBits);
    fields[i] = codes.number[low_bits(words[i], CodeBits)] | size << w.code | steps[i] << (w.code + w.size);
  }
  const size_t before = out.size(), bytes = w.bytes(words.size());
  out.resize(before + 2 + bytes + 8);
  out[before] = static_cast<uint8_t>(w.size);
  out[before + 1] = static_cast<uint8_t>(w.address);
  put_fields(std::span(fields).first(words.size()), w.all(), out.data() + before + 2);
  out.resize(before + 2 + bytes);
  return address;
}

}  // namespace

void pack_words(std::span<const uint64_t> words, Bytes& out) {
  const Codes codes(words);
  out.reserve(out.size() + 2 * codes.all.size() + words.size() * 9 + 8 * Padding);
  const auto put16 = [&](size_t v) {
    out.push_back(static_cast<uint8_t>(v));
    out.push_back(static_cast<uint8_t>(v >> 8));
  };
  put16(codes.all.size());
  for (const uint16_t code : codes.all) put16(code);
  uint64_t address = 0;
  for (size_t at = 0; at < words.size(); at += BlockWords)
    address = pack_block(words.subspan(at, std::min(BlockWords, words.size() - at)), codes, address, out);
  out.resize(out.size() + Padding);
}

bool unpack_words(ByteView packed, size_t count, std::vector<uint64_t>& words) {
  if (count / BlockWords > packed.size()) return false;
  words.resize(count);
  ByteReader in(packed);
  const auto get16 = [&] { return static_cast<uint16_t>(in.u8() | in.u8() << 8); };
  std::vector<uint16_t> codes(get16());
  for (uint16_t& code : codes) code = get16();
  codes.resize(size_t{1} << code_width(codes.size()));  // so that no number is outside
  uint64_t address = 0;
  for (size_t at = 0; at < count; at += BlockWords) {
    const size_t n = std::min(BlockWords, count - at);
    const unsigned size_width = in.u8(), address_width = in.u8();
    const Widths w{code_width(codes.size()), size_width, address_width};
    if (size_width > SizeBits || address_width > AddressBits || w.all() > 64) return false;
    const ByteView fields = in.raw(w.bytes(n));
    if (!in.ok() || in.remaining() < Padding) return false;
    for (size_t i = 0; i < n; ++i) {
      const uint64_t field = get_field(fields.data(), i * w.all(), w.all());
      const uint64_t size = low_bits(field >> w.code, size_width);
      const uint64_t step = w.code + size_width < 64 ? field >> (w.code + size_width) : 0;
      address = low_bits(address + static_cast<uint64_t>(unzigzag(step)), AddressBits);
      words[at + i] = low_bits(codes[low_bits(field, w.code)], CodeBits) | size << CodeBits | address << AddressAt;
    }
  }
  return true;
}

}  // namespace gt::tracer
