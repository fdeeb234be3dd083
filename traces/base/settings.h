// The table of settings (settings.def), as data.
//
// A setting's value is its flag, else its variable where it has one, else its fallback. Programs read it through
// command_line.h; injected libraries have no command line and use getenv. Thread safety: constants.
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
  const char* variable;      // "GTRACE_REMOTE"; "": none
  SettingType type;
  std::string_view fallback;  // Choice: every choice, the default first: "auto|always|never"
  std::string_view help;
};

inline constexpr Setting Settings[] = {
#define GT_SETTING_AND_VARIABLE(command, flags, variable, type, fallback, help) \
  {command, flags, variable, SettingType::type, fallback, help},
#define GT_SETTING(command, flags, type, fallback, help) \
  GT_SETTING_AND_VARIABLE(command, flags, "", type, fallback, help)
#include "traces/base/settings.def"
#undef GT_SETTING
#undef GT_SETTING_AND_VARIABLE
};

// "-o,--output" -> "output". Every row has a long flag.
constexpr std::string_view setting_name(std::string_view flags) {
  const size_t dashes = flags.find("--");
  if (dashes == std::string_view::npos) return {};
  const std::string_view rest = flags.substr(dashes + 2);
  return rest.substr(0, rest.find(','));
}

// The part of a help text that is the same wherever a variable is read: of "Where; by default here" it is "Where".
constexpr std::string_view setting_meaning(std::string_view help) { return help.substr(0, help.find(';')); }

// What a setting's variable was while every setting had one: of --max-size GTRACE_MAX_SIZE. "" where it has one.
// Nothing is read from it: users who still set it are told.
inline std::string old_variable(const Setting& s) {
  if (*s.variable) return {};
  std::string text = "GTRACE_";
  for (const char c : setting_name(s.flags))
    text += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace gt
