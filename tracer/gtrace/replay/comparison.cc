#include "tracer/gtrace/replay/comparison.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

namespace gt::tracer {

namespace {

struct TypeRow {
  const char* name;
  size_t bytes;
};
constexpr std::array<TypeRow, 12> Types = {{{"byte", 1},
                                            {"char", 1},
                                            {"uchar", 1},
                                            {"short", 2},
                                            {"ushort", 2},
                                            {"int", 4},
                                            {"uint", 4},
                                            {"long", 8},
                                            {"ulong", 8},
                                            {"half", 2},
                                            {"float", 4},
                                            {"double", 8}}};

float half_value(uint16_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 0x3ff;
  float v = 0;
  if (exponent == 31) {
    v = fraction ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
  } else {
    v = exponent ? std::ldexp(static_cast<float>(fraction | 0x400), exponent - 25)
                 : std::ldexp(static_cast<float>(fraction), -24);
  }
  return bits & 0x8000 ? -v : v;
}

// Numbers that lie next to each other have keys that differ by one.
template <class Bits>
int64_t ordered(Bits bits) {
  using Signed = std::make_signed_t<Bits>;
  const auto s = static_cast<Signed>(bits);
  return s >= 0 ? s : static_cast<int64_t>(std::numeric_limits<Signed>::min()) - static_cast<int64_t>(s);
}

struct Number {
  bool is_float = false, nan = false;
  double value = 0;
  int64_t order = 0;
};

template <class T>
T load(const uint8_t* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

template <class T>
Number whole(const uint8_t* p) {
  return {false, false, static_cast<double>(load<T>(p)), static_cast<int64_t>(load<T>(p))};
}

Number number_at(const uint8_t* p, ElementType type) {
  switch (type) {
    case ElementType::Half: {
      const float v = half_value(load<uint16_t>(p));
      return {true, std::isnan(v), v, ordered(load<uint16_t>(p))};
    }
    case ElementType::Float: {
      const auto v = load<float>(p);
      return {true, std::isnan(v), v, ordered(load<uint32_t>(p))};
    }
    case ElementType::Double: {
      const auto v = load<double>(p);
      return {true, std::isnan(v), v, ordered(load<uint64_t>(p))};
    }
    case ElementType::Char:
      return whole<int8_t>(p);
    case ElementType::Short:
      return whole<int16_t>(p);
    case ElementType::UShort:
      return whole<uint16_t>(p);
    case ElementType::Int:
      return whole<int32_t>(p);
    case ElementType::UInt:
      return whole<uint32_t>(p);
    case ElementType::Long:
      return whole<int64_t>(p);
    case ElementType::ULong:
      return whole<uint64_t>(p);
    default:
      return whole<uint8_t>(p);
  }
}

std::string text_of(const uint8_t* p, ElementType type) {
  const Number n = number_at(p, type);
  if (type == ElementType::Byte) return fmt::format("0x{:02x}", *p);
  if (type == ElementType::Double) return fmt::format("{:.17g}", n.value);
  if (n.is_float) return fmt::format("{:.9g}", n.value);
  return type == ElementType::ULong ? fmt::format("{}", static_cast<uint64_t>(n.order)) : fmt::format("{}", n.order);
}

bool same(const uint8_t* a, const uint8_t* b, ElementType type, const Tolerance& tolerance) {
  const size_t size = element_bytes(type);
  if (std::memcmp(a, b, size) == 0) return true;
  if (tolerance.kind == Tolerance::Kind::Exact || type == ElementType::Byte) return false;
  const Number x = number_at(a, type), y = number_at(b, type);
  if (x.nan || y.nan) return x.nan && y.nan;
  if (tolerance.kind == Tolerance::Kind::Absolute) return std::fabs(x.value - y.value) <= tolerance.amount;
  if (!x.is_float) return false;
  const uint64_t apart =
      static_cast<uint64_t>(std::max(x.order, y.order)) - static_cast<uint64_t>(std::min(x.order, y.order));
  return static_cast<double>(apart) <= tolerance.amount;
}

}  // namespace

size_t element_bytes(ElementType type) { return Types[static_cast<size_t>(type)].bytes; }
const char* element_name(ElementType type) { return Types[static_cast<size_t>(type)].name; }

ElementType element_type(std::string_view kernel_type) {
  if (kernel_type.starts_with("unsigned ")) {
    const std::string with_u = "u" + std::string(kernel_type.substr(9));
    return element_type(with_u);
  }
  const std::string_view word = kernel_type.substr(0, kernel_type.find_first_of("0123456789 *"));
  for (size_t i = 1; i < Types.size(); ++i) {
    if (word == Types[i].name) return static_cast<ElementType>(i);
  }
  return ElementType::Byte;
}

Result<Tolerance> Tolerance::parse(std::string_view text) {
  Tolerance t;
  if (text == "exact") return t;
  const std::string_view number = text.substr(std::min(text.size(), size_t{4}));
  t.kind = text.starts_with("ulp:") ? Kind::Ulp : Kind::Absolute;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), t.amount);
  const bool known = text.starts_with("ulp:") || text.starts_with("abs:");
  if (!known || error != std::errc() || end != number.data() + number.size() || !(t.amount >= 0)) {
    return Status(gt::Kind::Invalid, fmt::format("--compare {}: not exact, ulp:N or abs:X", text));
  }
  return t;
}

std::optional<Difference> compare(ByteView expected, ByteView got, ElementType type, const Tolerance& tolerance) {
  if (expected.size() == got.size() && (expected.empty() || std::memcmp(expected.data(), got.data(), got.size()) == 0))
    return std::nullopt;
  const size_t size = element_bytes(type), common = std::min(expected.size(), got.size());
  Difference d;
  const auto look = [&](size_t at, ElementType as) {
    ++d.elements;
    if (same(expected.data() + at, got.data() + at, as, tolerance)) return;
    if (d.differing++ > 0) return;
    d.offset = at;
    d.expected = text_of(expected.data() + at, as);
    d.got = text_of(got.data() + at, as);
  };
  size_t at = 0;
  for (; at + size <= common; at += size) look(at, type);
  for (; at < common; ++at) look(at, ElementType::Byte);
  if (expected.size() != got.size()) {
    if (d.differing++ == 0)
      d.offset = common, d.expected = fmt::format("{} bytes", expected.size()),
      d.got = fmt::format("{} bytes", got.size());
  }
  if (d.differing == 0) return std::nullopt;
  return d;
}

}  // namespace gt::tracer
