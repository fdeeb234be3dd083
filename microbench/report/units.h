// Sizes, times and rates as people read them. Thread safety: pure functions.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace gt::bench {

// "64 KiB", "1.5 GiB".
inline std::string size_text(double bytes) {
  constexpr const char* Units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  for (; bytes >= 1024 && unit < 4; ++unit) bytes /= 1024;
  const int digits = bytes < 10 && bytes != static_cast<double>(static_cast<int>(bytes)) ? 1 : 0;
  return fmt::format("{:.{}f} {}", bytes, digits, Units[unit]);
}

// "850 ns", "12.5 us", "3.10 ms", "1.20 s".
inline std::string time_text(double ns) {
  if (ns >= 1e9) return fmt::format("{:.2f} s", ns / 1e9);
  if (ns >= 1e6) return fmt::format("{:.2f} ms", ns / 1e6);
  if (ns >= 1e3) return fmt::format("{:.1f} us", ns / 1e3);
  return fmt::format("{:.0f} ns", ns);
}

// "2 us", for axes.
inline std::string short_time_text(double ns) {
  if (ns >= 1e9) return fmt::format("{:g} s", ns / 1e9);
  if (ns >= 1e6) return fmt::format("{:g} ms", ns / 1e6);
  if (ns >= 1e3) return fmt::format("{:g} us", ns / 1e3);
  return fmt::format("{:g} ns", ns);
}

// Bytes in ns are GB/s.
inline std::string rate_text(double bytes, double ns) {
  const double rate = bytes / ns;
  return fmt::format("{:.{}f}", rate, rate < 0.1 ? 4 : rate < 100 ? 2 : 0);
}

}  // namespace gt::bench
