// The page of gmicrobench: texts stay texts, plots are drawn where there is something to draw, numbers are those given.
#include <doctest/doctest.h>

#include <cmath>

#include "microbench/report/device_report.h"
#include "microbench/report/html.h"
#include "microbench/report/platform_page.h"
#include "microbench/report/platform_table.h"
#include "microbench/report/plot.h"
#include "microbench/report/units.h"

using namespace gt;
using namespace gt::bench;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

constexpr const char* Hostile = "</title><script>alert(1)</script>\"' & Co";

PlatformResult sample() {
  PlatformResult r;
  r.platform.machine = {"Imaginary <4000>", 4, 8ull << 30, "x"};
  model::DeviceCosts d;
  d.platform = Hostile;
  d.name = Hostile;
  d.driver = "1.0";
  std::vector<Series> all;
  for (const char* policy : {"standard", "pin"}) {
    model::PolicyCosts c;
    for (const char* quantity : {"allocation", "h2d", "d2h"}) {
      Series s{quantity, policy, {}};
      for (uint64_t size = 64; size <= 1 << 20; size *= 4)
        for (int i = 0; i < 10; ++i) s.add(size, 1000 + static_cast<double>(size) / 10 + i);
      const model::Curve curve = model::fit_curve(s.samples);
      (s.quantity == "allocation" ? c.allocation : s.quantity == "h2d" ? c.h2d : c.d2h) = curve;
      all.push_back(std::move(s));
    }
    d.policies[static_cast<size_t>(*model::parse_policy(policy))] = c;
  }
  d.policies[4]->max_bytes = 65536;
  r.platform.devices.push_back(d);
  r.devices.push_back(all);
  r.platform.failed.push_back({"p", Hostile, "d", "it <broke>"});
  r.platform.host.copy_threads = {{1, 10e9}, {2, 19e9}};
  return r;
}

}  // namespace

TEST_CASE("hostile names stay text") {
  const std::string page = platform_page(sample());
  CHECK_FALSE(has(page, "<script"));
  CHECK(has(page, "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39; &amp; Co"));
  CHECK(has(page, "it &lt;broke&gt;"));
  CHECK(has(page, "Imaginary &lt;4000&gt;"));
  CHECK(escaped(std::string("a\0b\x01", 4)) == "a b ");
}

TEST_CASE("a page loads nothing and has what was measured") {
  const std::string page = platform_page(sample());
  for (const char* word : {"http:", "https:", "url(", "src=", "href=", "@import"}) CHECK_FALSE(has(page, word));
  CHECK(has(page, "default-src 'none'"));
  CHECK(has(page, "prefers-color-scheme: dark"));
  CHECK(count(page, "<figure>") == 4);  // h2d, d2h, allocation, copy threads: no others were measured
  CHECK(count(page, "<svg") == count(page, "</svg>"));
  CHECK(has(page, "refused"));
  CHECK_FALSE(has(page, "nan"));
  CHECK_FALSE(has(page, "inf"));
}

TEST_CASE("nothing measured, no figure") {
  CHECK(figure({"empty", Axis::Bytes, Axis::Nanoseconds, "x", "y", {}}).empty());
  PlotLine line{"bad", 0, {{0, 1}, {1, -1}, {std::nan(""), 1}}, {}, {}};
  CHECK(figure({"bad", Axis::Bytes, Axis::Nanoseconds, "x", "y", {line}}).empty());
}

TEST_CASE("a plot of one point, a flat one and a wide one stay within the picture") {
  const auto inside = [](const std::string& svg) {
    for (size_t at = svg.find("cx=\""); at != svg.npos; at = svg.find("cx=\"", at + 1)) {
      const double x = std::stod(svg.substr(at + 4));
      const double y = std::stod(svg.substr(svg.find("cy=\"", at) + 4));
      CHECK(x >= 64);
      CHECK(x <= 626);
      CHECK(y >= 10);
      CHECK(y <= 338);
    }
    return count(svg, "<circle");
  };
  const auto plot_of = [](std::vector<Mark> marks) {
    return figure({"t", Axis::Bytes, Axis::Nanoseconds, "x", "y", {{"l", 0, {}, {}, std::move(marks)}}});
  };
  CHECK(inside(plot_of({{64, 5, 5, 5, ""}})) == 1);
  CHECK(inside(plot_of({{64, 5, 5, 5, ""}, {1 << 20, 5, 5, 5, ""}})) == 2);
  CHECK(inside(plot_of({{1, 1e-9, 1e-10, 1, ""}, {1e18, 1e15, 1e15, 1e16, ""}})) == 2);
}

TEST_CASE("the table says what was refused, measured and broken") {
  const std::string table = platform_table(sample().platform);
  CHECK(has(table, "standard"));
  CHECK(has(table, "refused"));
  CHECK(has(table, "it <broke>"));
  CHECK(has(table, "1: 10.0, 2: 19.0"));
  CHECK(has(table, "every median is known within 10 %"));
}

namespace {

DeviceLimits limits() {
  DeviceLimits d{"p", Hostile, "1.0", {}, {}, {}};
  d.limits[0].sync = Limit{17'700, 30.5e9};
  d.roofline = Roofline{10e9, 100e9, {{1, 5.2e9, 5e9, 5.3e9}, {8, 41e9, 40e9, 42e9}, {1024, 90e9, 88e9, 91e9}}};
  return d;
}

}  // namespace

TEST_CASE("the roofline predicts the least of bandwidth and peak") {
  const Roofline r = *limits().roofline;
  CHECK(r.predicted(1) == doctest::Approx(5e9));
  CHECK(r.predicted(8) == doctest::Approx(40e9));
  CHECK(r.predicted(1024) == doctest::Approx(100e9));
  CHECK(r.ridge() == doctest::Approx(10));
  CHECK(r.error(r.points[2]) == doctest::Approx(100.0 / 90 - 1));
}

TEST_CASE("limits as text, JSON and page") {
  DeviceLimits broken{"p", "other", "1.0", {}, {}, "it <broke>"};
  const std::vector<DeviceLimits> all = {limits(), broken};
  const std::string text = device_table(all), json = device_json(all), page = device_page(all);
  CHECK(has(text, "17.7 us"));
  CHECK(has(text, "30.50"));
  CHECK(has(text, "not measured: it <broke>"));
  CHECK(has(json, "\"latency_ns\": 17700.0"));
  CHECK(has(json, "\"async\": null"));
  CHECK(has(json, "\"fma_per_float\": 1024"));
  CHECK(has(json, "\"error\": \"it <broke>\""));
  CHECK_FALSE(has(page, "<script"));
  CHECK(has(page, "Not measured: it &lt;broke&gt;"));
  CHECK(count(page, "<figure>") == 1);
  CHECK(count(page, "<circle") == 3);
}

TEST_CASE("units") {
  CHECK(size_text(64) == "64 B");
  CHECK(size_text(1 << 20) == "1 MiB");
  CHECK(size_text(1536) == "1.5 KiB");
  CHECK(size_text(3.0 * (1ull << 40)) == "3 TiB");
  CHECK(time_text(12) == "12 ns");
  CHECK(time_text(12500) == "12.5 us");
  CHECK(time_text(3.1e6) == "3.10 ms");
  CHECK(time_text(1.2e9) == "1.20 s");
  CHECK(rate_text(1e9, 1e9) == "1.00");
  CHECK(rate_text(1, 100) == "0.0100");
}
