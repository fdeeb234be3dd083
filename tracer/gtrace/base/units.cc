// Three significant digits and a unit.
#include "tracer/gtrace/base/units.h"

#include <fmt/format.h>

#include <iterator>

namespace gt::tracer {
namespace {

std::string three_digits(double v) {
  return v < 9.995   ? fmt::format("{:.2f}", v)
         : v < 99.95 ? fmt::format("{:.1f}", v)
                     : fmt::format("{:.0f}", v);
}

}  // namespace

std::string human_ns(uint64_t ns) {
  if (ns < 1000) return fmt::format("{} ns", ns);
  const auto v = static_cast<double>(ns);
  if (v < 999.5e3) return three_digits(v / 1e3) + " us";
  if (v < 999.5e6) return three_digits(v / 1e6) + " ms";
  return three_digits(v / 1e9) + " s";
}

std::string human_bytes(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  constexpr const char* Units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto v = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (v >= 1023.95 && unit + 1 < std::size(Units)) {
    v /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", v, Units[unit]);
}

std::string human_rate(uint64_t bytes, uint64_t ns) {
  if (ns == 0 || bytes == 0) return {};
  const double gb =
      static_cast<double>(bytes) / static_cast<double>(ns);  // bytes per ns are GB per s
  if (gb < 0.001) return three_digits(gb * 1e6) + " kB/s";
  return gb < 1 ? three_digits(gb * 1e3) + " MB/s" : three_digits(gb) + " GB/s";
}

std::string human_percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f}%", 100 * part / whole) : std::string();
}

}  // namespace gt::tracer
