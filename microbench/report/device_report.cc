// Three ways to say the same.
#include "microbench/report/device_report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "microbench/report/html.h"
#include "microbench/report/plot.h"
#include "microbench/report/units.h"

namespace gt::bench {
namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

std::string latency_text(const std::optional<Limit>& l) { return l ? time_text(l->latency_ns) : "-"; }
std::string throughput_text(const std::optional<Limit>& l) { return l ? rate_text(l->bytes_per_s, 1e9) : "-"; }

Rows limit_rows(const LimitTable& table) {
  Rows rows = {{"", "latency, sync", "latency, async", "GB/s, sync", "GB/s, async"}};
  for (size_t w = 0; w < WorkCount; ++w)
    rows.push_back({std::string(WorkNames[w]), latency_text(table[w].sync), latency_text(table[w].async),
                    throughput_text(table[w].sync), throughput_text(table[w].async)});
  return rows;
}

Rows roofline_rows(const Roofline& r) {
  Rows rows = {{"FMA a float", "flop a byte", "GFLOP/s", "predicted", "error"}};
  for (const RooflinePoint& p : r.points)
    rows.push_back({std::to_string(p.fma), fmt::format("{:g}", p.intensity()),
                    fmt::format("{:.2f}", p.flops_per_s / 1e9), fmt::format("{:.2f}", r.predicted(p.fma) / 1e9),
                    fmt::format("{:+.1f} %", r.error(p) * 100)});
  return rows;
}

double worst_error(const Roofline& r) {
  double worst = 0;
  for (const RooflinePoint& p : r.points) worst = std::max(worst, std::fabs(r.error(p)));
  return worst;
}

std::string roofline_text(const Roofline& r) {
  return fmt::format("Memory {:.2f} GB/s, peak {:.2f} GFLOP/s; they meet at {:.2g} flop a byte. Worst error of the "
                     "prediction: {:.1f} %.", r.bytes_per_s / 1e9, r.flops_per_s / 1e9, r.ridge(),
                     worst_error(r) * 100);
}

std::string text_of(const Rows& rows) {
  std::string out;
  for (const auto& row : rows) {
    out += fmt::format("{:>12}", row[0]);
    for (size_t c = 1; c < row.size(); ++c) out += fmt::format("  {:>14}", row[c]);
    out += "\n";
  }
  return out;
}

Json limit_json(const std::optional<Limit>& l) {
  return l ? Json{{"latency_ns", l->latency_ns}, {"bytes_per_s", l->bytes_per_s}} : Json();
}

Json roofline_json(const Roofline& r) {
  Json points = Json::array();
  for (const RooflinePoint& p : r.points)
    points.push_back({{"fma_per_float", p.fma},
                      {"flops_per_byte", p.intensity()},
                      {"measured_flops_per_s", p.flops_per_s},
                      {"low", p.low},
                      {"high", p.high},
                      {"predicted_flops_per_s", r.predicted(p.fma)},
                      {"error", r.error(p)}});
  return {{"bytes_per_s", r.bytes_per_s}, {"flops_per_s", r.flops_per_s}, {"points", points}};
}

std::string roofline_figure(const Roofline& r) {
  Plot plot{"Performance against arithmetic intensity", Axis::Number, Axis::Gigaflops, "operations a byte", "GFLOP/s",
            {}};
  PlotLine roof{"predicted by the roofline", 1, {}, {}, {}, true}, points{"measured", 2, {}, {}, {}};
  std::vector<double> intensities = {r.ridge()};
  for (const RooflinePoint& p : r.points) intensities.push_back(p.intensity());
  std::sort(intensities.begin(), intensities.end());
  for (const double i : intensities) roof.curve.push_back({i, std::min(r.flops_per_s, r.bytes_per_s * i) / 1e9});
  for (const RooflinePoint& p : r.points) {
    points.curve.push_back({p.intensity(), p.flops_per_s / 1e9});
    points.marks.push_back({p.intensity(), p.flops_per_s / 1e9, p.low / 1e9, p.high / 1e9,
                            fmt::format("{} multiply-adds a float: {:.2f} GFLOP/s, predicted {:.2f}", p.fma,
                                        p.flops_per_s / 1e9, r.predicted(p.fma) / 1e9)});
  }
  plot.lines = {roof, points};
  return figure(plot);
}

std::string device_part(const DeviceLimits& d) {
  std::string out = "<h2>" + escaped(d.name) + "</h2>\n<p class=\"soft\">" + escaped(d.platform) + ", driver " +
                    escaped(d.driver) + "</p>\n";
  if (!d.error.empty()) return out + "<p>Not measured: " + escaped(d.error) + "</p>\n";
  out += "<h3>Least latency and highest throughput</h3>\n" + html_table(limit_rows(d.limits));
  out += "<p class=\"soft\">sync: waited for one by one; async: in rows of 32. Transfers from and to the driver's own "
         "memory; the kernel's throughput is what it reads.</p>\n";
  if (!d.roofline) return out;
  out += "<h3>Arithmetic intensity</h3>\n<p>" + escaped(roofline_text(*d.roofline)) + "</p>\n";
  return out + "<div class=\"plots\">" + roofline_figure(*d.roofline) + html_table(roofline_rows(*d.roofline)) +
         "</div>\n";
}

}  // namespace

std::string device_table(const std::vector<DeviceLimits>& devices) {
  std::string out;
  for (const DeviceLimits& d : devices) {
    out += fmt::format("{} ({}, driver {})\n", d.name, d.platform, d.driver);
    out += d.error.empty() ? text_of(limit_rows(d.limits)) : "not measured: " + d.error + "\n";
    if (d.roofline) out += "\n" + text_of(roofline_rows(*d.roofline)) + roofline_text(*d.roofline) + "\n";
    out += "\n";
  }
  return out;
}

std::string device_json(const std::vector<DeviceLimits>& devices) {
  Json out = {{"format", "gtrace-device"}, {"version", 1}, {"devices", Json::array()}};
  for (const DeviceLimits& d : devices) {
    Json j = {{"platform", d.platform}, {"name", d.name}, {"driver", d.driver}};
    if (!d.error.empty()) {
      j["error"] = d.error;
    } else {
      for (size_t w = 0; w < WorkCount; ++w)
        j["limits"][std::string(WorkNames[w])] = {{"sync", limit_json(d.limits[w].sync)},
                                                  {"async", limit_json(d.limits[w].async)}};
      if (d.roofline) j["roofline"] = roofline_json(*d.roofline);
    }
    out["devices"].push_back(std::move(j));
  }
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string device_page(const std::vector<DeviceLimits>& devices) {
  std::string body;
  for (const DeviceLimits& d : devices) body += device_part(d);
  return html_page("What the devices can do at most", body);
}

}  // namespace gt::bench
