// Values as text.
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

}  // namespace gt::api
