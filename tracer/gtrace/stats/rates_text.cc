#include "tracer/gtrace/stats/rates_text.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tracer/gtrace/base/table.h"
#include "tracer/gtrace/base/units.h"
#include "traces/store/function_facts.h"

namespace gt::tracer {
namespace {

using Json = nlohmann::ordered_json;

size_t shown_rows(size_t all, size_t most) { return most == 0 ? all : std::min(all, most); }

double each_s(uint64_t count, double interval_s) {
  return interval_s > 0 ? static_cast<double>(count) / interval_s : 0;
}

double gb_each_s(uint64_t bytes, double interval_s) { return each_s(bytes, interval_s) * 1e-9; }

std::string count_text(double each) { return each < 10 ? fmt::format("{:.1f}", each) : fmt::format("{:.0f}", each); }

// Of the interval.
std::string share_text(uint64_t ns, double interval_s) {
  return interval_s > 0 ? human_percent(static_cast<double>(ns) * 1e-9, interval_s) : "";
}

void print_transfers(const RatesShown& shown, Output& out, const TextStyle& text) {
  if (shown.rates.transfers.empty()) return;
  Table table({{"Transfers"}, {"/s", true}, {"GB/s", true}, {"of the time", true}, {"while moving", true}});
  for (const MovedSum& m : shown.rates.transfers) {
    table.row({store::direction_name(m.direction), count_text(each_s(m.count, shown.interval_s)),
               fmt::format("{:.3f}", gb_each_s(m.bytes, shown.interval_s)), share_text(m.ns, shown.interval_s),
               human_rate(m.bytes, m.ns)});
  }
  out.write("\n");
  table.print(out, text);
}

void print_kernels(const RatesShown& shown, size_t rows, Output& out, const TextStyle& text) {
  if (shown.rates.kernels.empty()) return;
  Table table({{"Kernels", false, 12}, {"/s", true}, {"of the time", true}, {"each", true}});
  for (size_t i = 0; i < shown_rows(shown.rates.kernels.size(), rows); ++i) {
    const LaunchedSum& k = shown.rates.kernels[i];
    table.row({k.name, count_text(each_s(k.launches, shown.interval_s)),
               k.timed > 0 ? share_text(k.device_ns, shown.interval_s) : "",
               k.timed > 0 ? human_ns(k.device_ns / k.launches) : ""});
  }
  out.write("\n");
  table.print(out, text);
}

void print_places(const RatesShown& shown, size_t rows, Output& out, const TextStyle& text) {
  if (shown.rates.places.empty()) return;
  Table table({{"Calls", false, 12}, {"at", false, 12}, {"/s", true}, {"of the time", true}, {"GB/s", true}});
  for (size_t i = 0; i < shown_rows(shown.rates.places.size(), rows); ++i) {
    const PlaceSum& p = shown.rates.places[i];
    table.row({p.function, p.site, count_text(each_s(p.calls, shown.interval_s)),
               share_text(p.host_ns, shown.interval_s),
               p.bytes > 0 ? fmt::format("{:.3f}", gb_each_s(p.bytes, shown.interval_s)) : ""});
  }
  out.write("\n");
  table.print(out, text);
}

Json transfers_json(const RatesShown& shown) {
  Json out = Json::array();
  for (const MovedSum& m : shown.rates.transfers) {
    out.push_back({{"direction", store::direction_name(m.direction)},
                   {"count", m.count},
                   {"bytes", m.bytes},
                   {"ns", m.ns},
                   {"clock", m.device_time ? "device" : "host"},
                   {"gb_per_s", gb_each_s(m.bytes, shown.interval_s)}});
  }
  return out;
}

Json kernels_json(const RatesShown& shown, size_t rows) {
  Json out = Json::array();
  for (size_t i = 0; i < shown_rows(shown.rates.kernels.size(), rows); ++i) {
    const LaunchedSum& k = shown.rates.kernels[i];
    out.push_back({{"name", k.name}, {"launches", k.launches}, {"timed", k.timed}, {"device_ns", k.device_ns}});
  }
  return out;
}

Json places_json(const RatesShown& shown, size_t rows) {
  Json out = Json::array();
  for (size_t i = 0; i < shown_rows(shown.rates.places.size(), rows); ++i) {
    const PlaceSum& p = shown.rates.places[i];
    out.push_back({{"function", p.function},
                   {"site", p.site},
                   {"calls", p.calls},
                   {"bytes", p.bytes},
                   {"host_ns", p.host_ns},
                   {"device_ns", p.device_ns}});
  }
  return out;
}

}  // namespace

void print_rates(const RatesShown& shown, const RatesStyle& style, Output& out) {
  const TextStyle text{style.width, false};
  out.write(fmt::format("{} OpenCL calls in all; in {:.1f} s: {} calls/s, {} memory calls/s{}\n", shown.calls,
                        shown.interval_s, count_text(each_s(shown.rates.calls, shown.interval_s)),
                        count_text(each_s(shown.rates.memory_calls, shown.interval_s)),
                        shown.ended ? "; the recording has ended" : ""));
  print_transfers(shown, out, text);
  print_kernels(shown, style.rows, out, text);
  print_places(shown, style.rows, out, text);
  out.write("\n");
}

std::string rates_json(const RatesShown& shown, size_t rows) {
  const Json line = {{"version", 1},
                     {"interval_s", shown.interval_s},
                     {"ended", shown.ended},
                     {"total_calls", shown.calls},
                     {"calls", shown.rates.calls},
                     {"memory_calls", shown.rates.memory_calls},
                     {"calls_per_s", each_s(shown.rates.calls, shown.interval_s)},
                     {"transfers", transfers_json(shown)},
                     {"kernels", kernels_json(shown, rows)},
                     {"places", places_json(shown, rows)}};
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace gt::tracer
