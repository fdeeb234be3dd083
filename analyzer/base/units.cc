// Numbers and names for people.
#include "analyzer/base/units.h"

#include <fmt/format.h>

namespace gt::analyzer {

std::string time_text(uint64_t ns) {
  const double v = static_cast<double>(ns);
  if (ns < 1000) return fmt::format("{} ns", ns);
  if (v < 999.5e3) return fmt::format("{:.3g} us", v / 1e3);
  if (v < 999.5e6) return fmt::format("{:.3g} ms", v / 1e6);
  return fmt::format("{:.2f} s", v / 1e9);
}

std::string bytes_text(uint64_t bytes) {
  constexpr const char* Units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double v = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; v >= 1024 && unit + 1 < std::size(Units); ++unit) v /= 1024;
  return fmt::format("{:.1f} {}", v, Units[unit]);
}

std::string count_text(uint64_t n, const char* one, const char* many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

std::string shell_text(const std::string& word) {
  constexpr const char* Plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+,:@%=";
  const bool plain = !word.empty() && word.find_first_not_of(Plain) == std::string::npos;
  if (!word.empty() && word[0] == '-') return shell_text("./" + word);  // else it is an option
  if (plain) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace gt::analyzer
