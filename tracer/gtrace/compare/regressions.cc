// Finding what grew.
#include "tracer/gtrace/compare/regressions.h"

#include <charconv>
#include <cmath>

namespace gt::tracer {
namespace {

constexpr uint64_t NoiseNs = 1'000'000;
constexpr uint64_t PartOfSum = 20;  // what is less than a twentieth of it stands for itself in the sum only

void judge(const std::string& list, const std::vector<TimeChange>& changes, double limit,
           std::vector<Regression>& out) {
  Regression sum{list, "all of them", 0, 0};
  for (const TimeChange& c : changes) {
    sum.a_ns += c.a_value;
    sum.b_ns += c.b_value;
  }
  const auto grew = [&](const Regression& r) { return r.a_ns > 0 && r.b_ns >= r.a_ns + NoiseNs && r.growth() > limit; };
  if (grew(sum)) out.push_back(sum);
  for (const TimeChange& c : changes) {
    const Regression one{list, c.name, c.a_value, c.b_value};
    if (c.b_value >= sum.b_ns / PartOfSum && grew(one)) out.push_back(one);
  }
}

}  // namespace

std::optional<double> parse_percentage(std::string_view text) {
  if (text.ends_with('%')) text.remove_suffix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool sound = error == std::errc() && end == text.data() + text.size() && std::isfinite(number) && number >= 0;
  return sound ? std::optional(number / 100) : std::nullopt;
}

std::vector<Regression> find_regressions(const TimeChanges& changes, double limit) {
  std::vector<Regression> out;
  judge("functions", changes.functions, limit, out);
  judge("kernels", changes.kernels, limit, out);
  judge("transfers", changes.transfers, limit, out);
  return out;
}

}  // namespace gt::tracer
