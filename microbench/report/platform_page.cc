// The page's parts: a machine, then each device.
#include "microbench/report/platform_page.h"

#include <algorithm>

#include "microbench/report/html.h"
#include "microbench/report/plot.h"
#include "microbench/report/units.h"
#include "traces/model/curves/curve_fit.h"

namespace gt::bench {
namespace {

using model::Curve;
using model::DeviceCosts;
using model::Policy;
using model::PolicyCount;
using model::PolicyNames;
using Rows = std::vector<std::vector<std::string>>;

constexpr size_t MostDots = 15;  // of a size; evenly chosen, the extremes with them

// A policy has one colour on the whole page, whatever is left out.
size_t color_of(const std::string& what, size_t fallback) {
  const auto policy = model::parse_policy(what);
  return policy ? static_cast<size_t>(*policy) : what == "staged" ? 5 : fallback;
}

std::vector<double> thinned(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  if (times.size() <= MostDots) return times;
  std::vector<double> out;
  for (size_t i = 0; i < MostDots; ++i) out.push_back(times[i * (times.size() - 1) / (MostDots - 1)]);
  return out;
}

std::string mark_text(const model::SizeMedian& m, Axis axis, double times) {
  const auto value = [&](double ns) {
    return axis == Axis::Nanoseconds ? time_text(ns) : rate_text(m.size * times, ns);
  };
  const double a = axis == Axis::Nanoseconds ? m.time.low : m.time.high;
  const double b = axis == Axis::Nanoseconds ? m.time.high : m.time.low;
  return fmt::format("{}: {} ({} to {}), {} samples, {} outliers", size_text(m.size), value(m.time.value), value(a),
                     value(b), m.time.n, m.time.outliers);
}

// `times`: how often the size is moved. As GB/s the straight pieces between a curve's knots stay straight.
PlotLine line_of(const Series& series, std::string name, size_t color, Axis axis, double times = 1) {
  PlotLine line{std::move(name), color, {}, {}, {}};
  const auto y = [&](double size, double ns) { return axis == Axis::Nanoseconds ? ns : size * times / ns; };
  const Curve curve = model::fit_curve(series.samples);
  for (const model::Knot& k : curve.knots()) line.curve.push_back({k.size, y(k.size, k.ns)});
  if (!curve.empty() && curve.knots().back().size < curve.quality()->to)
    line.curve.push_back({curve.quality()->to, y(curve.quality()->to, curve(curve.quality()->to))});
  std::vector<model::Knot> samples = series.samples;
  std::sort(samples.begin(), samples.end(), [](const auto& a, const auto& b) { return a.size < b.size; });
  for (size_t i = 0; i < samples.size();) {
    const double size = samples[i].size;
    std::vector<double> group;
    for (; i < samples.size() && samples[i].size == size; ++i) group.push_back(samples[i].ns);
    for (const double ns : thinned(std::move(group))) line.samples.push_back({size, y(size, ns)});
  }
  for (const model::SizeMedian& m : model::medians_of(series.samples)) {
    const double a = y(m.size, m.time.low), b = y(m.size, m.time.high);
    line.marks.push_back(
        {m.size, y(m.size, m.time.value), std::min(a, b), std::max(a, b), mark_text(m, axis, times)});
  }
  return line;
}

Plot empty_plot(std::string title, Axis y) {
  return {std::move(title), Axis::Bytes, y, "size", y == Axis::Nanoseconds ? "time" : "GB/s", {}};
}

// The series of one quantity, one line each.
std::string quantity_figure(const std::vector<Series>& all, const std::string& quantity, std::string title, Axis y) {
  Plot plot = empty_plot(std::move(title), y);
  for (const Series& s : all) {
    const bool other = s.what == "rect" || s.what.starts_with("svm");  // drawn with their like
    if (s.quantity == quantity && !other)
      plot.lines.push_back(line_of(s, s.what, color_of(s.what, plot.lines.size()), y));
  }
  return figure(plot);
}

std::string svm_figure(const std::vector<Series>& all) {
  Plot plot = empty_plot("Copies to and from shared virtual memory, blocking", Axis::GigabytesPerSecond);
  for (const Series& s : all)
    if (s.what.starts_with("svm"))
      plot.lines.push_back(line_of(s, s.what + (s.quantity == "h2d" ? ", to it" : ", from it"), plot.lines.size() + 1,
                                   plot.y));
  return plot.lines.empty() ? std::string() : figure(plot);
}

std::string others_figure(const std::vector<Series>& all) {
  Plot plot = empty_plot("Rectangles, copies inside the device, both directions at once", Axis::GigabytesPerSecond);
  const auto add = [&](const char* quantity, const char* what, const char* name, double times) {
    for (const Series& s : all)
      if (s.quantity == quantity && s.what == what)
        plot.lines.push_back(line_of(s, name, plot.lines.size() + 1, plot.y, times));
  };
  add("h2d", "rect", "rectangle to the device", 1);
  add("d2h", "rect", "rectangle to the host", 1);
  add("copy", "inside the device", "copy", 1);
  add("both at once", "opencl", "both directions, together", 2);
  return figure(plot);
}

std::string calls_figure(const std::vector<Series>& all) {
  Plot plot = empty_plot("Pinning memory in place; mapping a buffer", Axis::Nanoseconds);
  for (const Series& s : all)
    if (s.quantity == "pin" || s.quantity == "map")
      plot.lines.push_back(
          line_of(s, s.quantity == "pin" ? "pin and unpin" : "map to " + s.what, plot.lines.size() + 1, plot.y));
  return figure(plot);
}

std::string cell_of(const model::PolicyCosts& c, double size) {
  if (c.max_bytes && size > static_cast<double>(c.max_bytes)) return "refused";
  return fmt::format("{}, {} / {}", time_text(c.allocation(size)), rate_text(size, c.h2d(size)),
                     rate_text(size, c.d2h(size)));
}

std::string policies_table(const DeviceCosts& d) {
  Rows rows = {{"size"}};
  for (size_t p = 0; p < PolicyCount; ++p)
    if (d.policies[p]) rows[0].push_back(std::string(PolicyNames[p]));
  const auto& range = d.costs(Policy::Standard)->h2d.quality();
  for (double size = 64; range && size <= range->to; size *= 4) {
    rows.push_back({size_text(size)});
    for (size_t p = 0; p < PolicyCount; ++p)
      if (d.policies[p]) rows.back().push_back(cell_of(*d.policies[p], size));
  }
  return "<h3>Policies</h3><p class=\"soft\">Time to allocate (and release), then GB/s to / from the device.</p>\n" +
         html_table(rows);
}

std::string sizes_text(const std::vector<double>& sizes) {
  std::string out;
  for (const double s : sizes) out += (out.empty() ? "" : ", ") + size_text(s);
  return out.empty() ? "none" : out;
}

std::string trust_table(const std::vector<Series>& all) {
  Rows rows = {{"curve", "measured", "samples", "outliers", "knots", "worst error", "not known within 10 %"}};
  for (const Series& s : all) {
    const Curve c = model::fit_curve(s.samples);
    if (c.empty()) continue;
    const model::CurveQuality& q = *c.quality();
    rows.push_back({s.quantity + ", " + s.what, size_text(q.from) + " to " + size_text(q.to),
                    std::to_string(q.samples), std::to_string(q.outliers), std::to_string(c.knots().size()),
                    fmt::format("{:.1f} %", q.worst_error * 100), sizes_text(q.noisy)});
  }
  return "<h3>How far to trust it</h3><p class=\"soft\">Worst error: the largest distance of a curve from the median "
         "of a size. Beyond the measured sizes a curve is a guess.</p>\n" + html_table(rows);
}

std::string launch_text(const DeviceCosts& d) {
  if (!d.launch) return {};
  return fmt::format("<p>Launch of an empty kernel: {} waited for, {} in a row.</p>\n", time_text(d.launch->sync_ns),
                     time_text(d.launch->async_ns));
}

std::string staged_text(const DeviceCosts& d) {
  if (!d.staged) return {};
  return fmt::format("<p>Staged transfers: {} copying threads, chunks of up to {}.</p>\n", d.staged->threads,
                     size_text(static_cast<double>(d.staged->chunk_bytes)));
}

std::string device_part(const DeviceCosts& d, const std::vector<Series>& all) {
  std::string out = "<h2>" + escaped(d.name) + "</h2>\n<p class=\"soft\">" + escaped(d.platform) + ", driver " +
                    escaped(d.driver) + (d.host_unified.value_or(false) ? ", memory shared with the host" : "") +
                    "</p>\n";
  out += "<div class=\"plots\">\n";
  out += quantity_figure(all, "h2d", "To the device, blocking", Axis::GigabytesPerSecond);
  out += quantity_figure(all, "d2h", "To the host, blocking", Axis::GigabytesPerSecond);
  out += quantity_figure(all, "h2d window", "To the device, 32 waited for together", Axis::GigabytesPerSecond);
  out += quantity_figure(all, "d2h window", "To the host, 32 waited for together", Axis::GigabytesPerSecond);
  out += quantity_figure(all, "allocation", "Allocating, touching, releasing", Axis::Nanoseconds);
  out += svm_figure(all) + calls_figure(all) + others_figure(all) + "</div>\n";
  return out + launch_text(d) + staged_text(d) + policies_table(d) + trust_table(all);
}

std::string copy_figure(const model::HostCosts& h) {
  Plot plot{"Copying memory with several threads", Axis::Number, Axis::GigabytesPerSecond, "threads", "GB/s", {}};
  PlotLine line{"all threads together", 1, {}, {}, {}};
  for (const model::CopyRate& r : h.copy_threads) {
    const double rate = r.bytes_per_s / 1e9;
    line.curve.push_back({static_cast<double>(r.threads), rate});
    line.marks.push_back({static_cast<double>(r.threads), rate, rate, rate,
                          fmt::format("{} threads: {:.1f} GB/s", r.threads, rate)});
  }
  plot.lines.push_back(std::move(line));
  return figure(plot);
}

std::string host_part(const PlatformResult& result) {
  std::string out = "<h2>Memory of the host</h2>\n<div class=\"plots\">\n";
  out += quantity_figure(result.host, "first touch", "First touch of fresh memory", Axis::Nanoseconds);
  return out + copy_figure(result.platform.host) + "</div>\n" + trust_table(result.host);
}

std::string failed_part(const model::Platform& platform) {
  std::string out;
  for (const model::FailedDevice& f : platform.failed)
    out += "<h2>" + escaped(f.name) + "</h2>\n<p>Not measured: " + escaped(f.error) + "</p>\n";
  return out;
}

}  // namespace

std::string platform_page(const PlatformResult& result) {
  const model::Machine& m = result.platform.machine;
  std::string body = fmt::format("<p class=\"soft\">{}, {} logical processors, {}{}</p>\n", escaped(m.cpu), m.cpus,
                                 size_text(static_cast<double>(m.memory_bytes)),
                                 result.platform.quick ? "; measured with --quick" : "");
  body += "<p class=\"soft\">Dots are samples (at most 15 a size), circles their medians, bands the 95 % intervals of "
          "the medians, lines the fitted curves.</p>\n";
  for (size_t i = 0; i < result.platform.devices.size(); ++i)
    body += device_part(result.platform.devices[i], result.devices[i]);
  return html_page("What memory and transfers cost here", body + failed_part(result.platform) + host_part(result));
}

}  // namespace gt::bench
