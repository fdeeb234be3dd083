// The table of settings (settings.def), as data.
//
// A setting's value is its flag, else its GTRACE_* variable, else its fallback. Programs read it
// through command_line.h; injected libraries have no command line and use
// setting_variable() and getenv. Thread safety: constants.
#pragma once

#include <cctype>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gt {

enum class SettingType : uint8_t { Flag, Int, Size, Real, Text, Choice };

// "4096", "64K", "1.5M" and so on in bytes (K: 1024); nothing when `text` is no size.
inline std::optional<uint64_t> parse_size(std::string_view text) {
  uint64_t unit = 1;
  if (const size_t at = std::string_view("KMGT").find(text.empty() ? ' ' : text.back()); at < 4) {
    unit <<= 10 * (at + 1);
    text.remove_suffix(1);
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const double bytes = number * static_cast<double>(unit);
  const bool sound = error == std::errc() && end == text.data() + text.size() && bytes >= 0 && bytes < 0x1p62;
  return sound ? std::optional(static_cast<uint64_t>(bytes)) : std::nullopt;
}

struct Setting {
  std::string_view command;  // "gtrace show"
  std::string_view flags;    // "-o,--output"
  SettingType type;
  std::string_view fallback;  // Choice: every choice, the default first: "auto|always|never"
  std::string_view help;
};

inline constexpr Setting Settings[] = {
#define GT_SETTING(command, flags, type, fallback, help) \
  {command, flags, SettingType::type, fallback, help},
#include "traces/base/settings.def"
#undef GT_SETTING
};

// "-o,--output" -> "output". Every row has a long flag.
constexpr std::string_view setting_name(std::string_view flags) {
  const size_t dashes = flags.find("--");
  if (dashes == std::string_view::npos) return {};
  const std::string_view rest = flags.substr(dashes + 2);
  return rest.substr(0, rest.find(','));
}

// "token-file" -> "GTRACE_TOKEN_FILE".
inline std::string setting_variable(std::string_view name) {
  std::string text = "GTRACE_";
  for (const char c : name) {
    text += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return text;
}

}  // namespace gt
