// What was measured of a link, for people, for programs, and for platform.json.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "microbench/links/link_probe.h"

namespace gt::bench {
namespace {

double rate(size_t bytes, double ns) { return ns > 0 ? static_cast<double>(bytes) / ns * 1000 : 0; }  // MB/s

std::string size_text(size_t bytes) {
  if (bytes >= size_t{1} << 20) return fmt::format("{} MiB", bytes >> 20);
  return bytes >= 1024 ? fmt::format("{} KiB", bytes >> 10) : fmt::format("{} B", bytes);
}

Result<model::Curve> curve(const LinkResult& r, double LinkSize::*ns) {
  std::vector<model::Knot> knots;
  for (const LinkSize& s : r.sizes) {
    const double before = knots.empty() ? 0 : knots.back().ns;
    knots.push_back({static_cast<double>(s.bytes), std::max(s.*ns, before)});
  }
  return model::Curve::make(std::move(knots));
}

}  // namespace

Result<model::LinkCosts> link_costs(const LinkResult& r) {
  model::LinkCosts costs{r.url, r.round_trip_ns / 2, r.command_ns, {}, {}};
  auto put = curve(r, &LinkSize::put_ns), get = curve(r, &LinkSize::get_ns);
  if (!put) return put.status();
  if (!get) return get.status();
  costs.put = std::move(*put);
  costs.get = std::move(*get);
  return costs;
}

std::string link_table(const LinkResult& r) {
  std::string out = fmt::format("{}\n  round trip {:.1f} us (99 %: {:.1f} us)", r.url, r.round_trip_ns / 1000,
                                r.round_trip_p99_ns / 1000);
  if (r.bare_round_trip_ns > 0) out += fmt::format(", bare socket {:.1f} us", r.bare_round_trip_ns / 1000);
  out += fmt::format("\n  a command of a row takes {:.0f} ns of the sender's time\n", r.command_ns);
  out += fmt::format("  {:>10} {:>12} {:>12} {:>12} {:>12}   MB/s\n", "size", "put", "get", "bare put", "bare get");
  for (const LinkSize& s : r.sizes)
    out += fmt::format("  {:>10} {:>12.1f} {:>12.1f} {:>12.1f} {:>12.1f}\n", size_text(s.bytes),
                       rate(s.bytes, s.put_ns), rate(s.bytes, s.get_ns), rate(s.bytes, s.bare_put_ns),
                       rate(s.bytes, s.bare_get_ns));
  if (r.window_bytes > 0)
    out += fmt::format("  window at the end {}; the path's own delay {:.0f} us, wanted at most {:.0f} us\n",
                       size_text(r.window_bytes), r.base_ns / 1000, r.target_ns / 1000);
  return out;
}

std::string link_json(const LinkResult& r) {
  nlohmann::ordered_json j = {{"format", "gtrace-link"},
                              {"version", 1},
                              {"url", r.url},
                              {"round_trip_ns", r.round_trip_ns},
                              {"round_trip_p99_ns", r.round_trip_p99_ns},
                              {"bare_round_trip_ns", r.bare_round_trip_ns},
                              {"command_ns", r.command_ns},
                              {"window_bytes", r.window_bytes},
                              {"base_ns", r.base_ns},
                              {"target_ns", r.target_ns}};
  j["sizes"] = nlohmann::ordered_json::array();
  for (const LinkSize& s : r.sizes)
    j["sizes"].push_back({{"bytes", s.bytes},
                          {"put_ns", s.put_ns},
                          {"get_ns", s.get_ns},
                          {"bare_put_ns", s.bare_put_ns},
                          {"bare_get_ns", s.bare_get_ns}});
  return j.dump(2) + "\n";
}

}  // namespace gt::bench
