// The presets, and NAME=LATENCY_US:GBIT.
#include "analyzer/remote/remote_links.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace gt::analyzer {
namespace {

struct Preset {
  const char* name;
  double latency_us, gbit;
};
// One way through two kernels' TCP and a switch; the payload's share of the line rate. wan: another city.
constexpr Preset Presets[] = {
    {"1GbE", 40, 0.94}, {"10GbE", 25, 9.4}, {"25GbE", 20, 23.5}, {"100GbE", 15, 94}, {"wan", 10'000, 0.94},
};
constexpr double CommandNs = 1000;  // to encode a command and put it into a batch

constexpr const char* Usage = " (NAME=LATENCY_US:GBIT, or one of 1GbE, 10GbE, 25GbE, 100GbE, wan)";
constexpr double MaxLatencyUs = 1e8, MinGbit = 1e-6, MaxGbit = 1e6;

bool read_number(std::string_view text, double& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(out);
}

Result<model::LinkCosts> parse_link(std::string_view text) {
  const auto wrong = [&](const char* what) {
    return Status(Kind::Invalid, "--link " + std::string(text) + ": " + what + Usage);
  };
  for (const Preset& p : Presets)
    if (text == p.name) return make_link(p.name, p.latency_us, p.gbit);
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0) return wrong("not a link");
  const std::string_view costs = text.substr(equals + 1);
  const size_t colon = costs.find(':');
  double latency_us = 0, gbit = 0;
  if (colon == std::string_view::npos || !read_number(costs.substr(0, colon), latency_us) ||
      !read_number(costs.substr(colon + 1), gbit))
    return wrong("two numbers are expected after =");
  if (!(latency_us >= 0 && latency_us <= MaxLatencyUs)) return wrong("a latency is from 0 to 100 s");
  if (!(gbit >= MinGbit && gbit <= MaxGbit)) return wrong("that is no bandwidth");
  return make_link(std::string(text.substr(0, equals)), latency_us, gbit);
}

}  // namespace

model::LinkCosts make_link(std::string name, double latency_us, double gbit) {
  // A curve grows in proportion beyond its last knot: one knot is a straight line from one byte on.
  const model::Curve line = model::Curve::make({{1, 8 / gbit}}).value();
  return {std::move(name), latency_us * 1e3, CommandNs, line, line};
}

Result<std::vector<model::LinkCosts>> parse_links(std::string_view text) {
  std::vector<model::LinkCosts> out;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    auto link = parse_link(text.substr(0, comma));
    if (!link.ok()) return link.status();
    out.push_back(std::move(*link));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return out;
}

}  // namespace gt::analyzer
