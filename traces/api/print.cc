// Calls as text.
#include "traces/api/print.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>

namespace gt::api {
namespace {

struct NamedValue {
  std::string_view group;
  const char* name;
  int64_t value;
};
struct Group {
  std::string_view name;
  bool bits;
};
constexpr Group groups[] = {
#define GT_GROUP(name, bits) {#name, bits},
#define GT_VALUE(group, name, value)
#include "traces/api/gen/enums.inc"
#undef GT_GROUP
#undef GT_VALUE
};
constexpr NamedValue values[] = {
#define GT_GROUP(name, bits)
#define GT_VALUE(group, name, value) {#group, #name, value},
#include "traces/api/gen/enums.inc"
#undef GT_GROUP
#undef GT_VALUE
};

// Both tables are sorted by group.
std::span<const NamedValue> values_of(std::string_view group) {
  const auto range =
      std::equal_range(std::begin(values), std::end(values), NamedValue{group, "", 0},
                       [](const NamedValue& a, const NamedValue& b) { return a.group < b.group; });
  return {range.first, range.second};
}
bool is_bit_field(std::string_view group) {
  const auto it =
      std::lower_bound(std::begin(groups), std::end(groups), group,
                       [](const Group& g, std::string_view name) { return g.name < name; });
  return it != std::end(groups) && it->name == group && it->bits;
}

std::string hex(uint64_t v) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIx64, v);
  return text;
}

std::string bit_names(std::span<const NamedValue> names, uint64_t value) {
  std::string out;
  uint64_t rest = value;
  for (const NamedValue& v : names) {
    const auto bits = static_cast<uint64_t>(v.value);
    const bool single = bits != 0 && (bits & (bits - 1)) == 0;
    if (!single || !(rest & bits)) continue;
    out += (out.empty() ? "" : " | ") + std::string(v.name);
    rest &= ~bits;
  }
  if (rest != 0 && !out.empty()) out += " | " + hex(rest);
  return out;
}

}  // namespace

std::string value_name(std::string_view group, int64_t value) {
  if (group.empty()) return "";
  const auto names = values_of(group);
  for (const NamedValue& v : names)
    if (v.value == value) return v.name;
  return is_bit_field(group) ? bit_names(names, static_cast<uint64_t>(value)) : "";
}

std::string error_name(int64_t code) {
  const std::string name = value_name("error", code);
  return name.empty() ? std::to_string(code) : name;
}

std::string print_value(uint16_t fn, uint16_t param, uint64_t value) {
  if (is_error_code(fn, param)) return error_name(static_cast<int32_t>(value));
  const ParamInfo& info = param == DecodedReturn ? fn_info(fn).result : param_info(fn, param);
  const auto number = static_cast<int64_t>(value);
  const std::string name = value_name(info.group, number);
  if (!name.empty()) return name;
  if (is_bit_field(info.group) && value != 0) return hex(value);
  return info.is_signed ? std::to_string(number) : std::to_string(value);
}

std::string print_bytes(ByteView bytes, size_t most) {
  const ByteView shown = bytes.first(std::min(bytes.size(), most));
  const bool text = std::all_of(shown.begin(), shown.end(), [](uint8_t c) {
    return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t' || c == '\r';
  });
  std::string out = text ? "\"" : "0x";
  for (const uint8_t c : shown) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", c);
    if (!text)
      out += digits;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\r')
      out += "\\r";
    else if (c == '"' || c == '\\')
      out += std::string("\\") + static_cast<char>(c);
    else
      out += static_cast<char>(c);
  }
  if (text) out += '"';
  if (shown.size() < bytes.size()) out += "... (" + std::to_string(bytes.size()) + " bytes)";
  return out;
}

std::string print_arg(uint16_t fn, const DecodedArg& arg, const PrintObject& object) {
  switch (arg.tag) {
    case Tag::Null:
      return "NULL";
    case Tag::Empty:
      return "[]";
    case Tag::Int:
      return print_value(fn, arg.param, arg.value);
    case Tag::Bytes:
      return print_bytes(arg.data);
    case Tag::Handle:
    case Tag::HostPointer:
      if (object) return object(arg);
      return hex(arg.value);
    case Tag::Code:
    case Tag::Raw:
      return hex(arg.value);
  }
  return "?";
}

namespace {

// The elements of parameter `param`, as "x" or "[x, y]".
std::string print_param(uint16_t fn, uint16_t param, std::span<const DecodedArg> args,
                        const PrintObject& object) {
  std::string out;
  int elements = 0;
  for (const DecodedArg& arg : args) {
    if (arg.param != param) continue;
    out += (elements++ ? ", " : "") + print_arg(fn, arg, object);
  }
  return elements > 1 ? "[" + out + "]" : out;
}

}  // namespace

std::string print_call(uint16_t fn, std::span<const DecodedArg> inputs,
                       std::span<const DecodedArg> outputs, const PrintObject& object) {
  std::string out = std::string(function_name(fn)) + "(";
  for (uint16_t i = 0; i < param_count(fn); ++i)
    out +=
        std::string(i ? ", " : "") + param_name(fn, i) + " = " + print_param(fn, i, inputs, object);
  out += ")";
  if (const std::string result = print_param(fn, DecodedReturn, outputs, object); !result.empty())
    out += " = " + result;
  for (uint16_t i = 0; i < param_count(fn); ++i) {
    const std::string written = print_param(fn, i, outputs, object);
    if (!written.empty()) out += std::string(", ") + param_name(fn, i) + " -> " + written;
  }
  return out;
}

}  // namespace gt::api
