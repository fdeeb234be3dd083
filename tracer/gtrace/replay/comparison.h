// Are two results the same? Exactly, or as numbers of a kernel's type within a tolerance.
//
//   exact     every byte
//   ulp:N     floating-point numbers are at most N representable numbers apart; others exactly
//   abs:X     numbers are at most X apart
//
// Two NaNs are the same. Thread safety: no state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "traces/base/bytes.h"
#include "traces/base/status.h"

namespace gt::tracer {

enum class ElementType : uint8_t { Byte, Char, UChar, Short, UShort, Int, UInt, Long, ULong, Half, Float, Double };

// "float4*" is Float, what is no type of numbers is Byte.
ElementType element_type(std::string_view kernel_type);
size_t element_bytes(ElementType type);
const char* element_name(ElementType type);

struct Tolerance {
  enum class Kind : uint8_t { Exact, Ulp, Absolute } kind = Kind::Exact;
  double amount = 0;

  // Invalid: none of the above.
  static Result<Tolerance> parse(std::string_view text);
};

struct Difference {
  uint64_t offset = 0;  // of the first element that differs, in bytes
  uint64_t differing = 0, elements = 0;
  std::string expected, got;  // that element
};

// Nothing: they are the same. Bytes behind the last whole element are compared as bytes.
std::optional<Difference> compare(ByteView expected, ByteView got, ElementType type, const Tolerance& tolerance);

}  // namespace gt::tracer
