// Three ways to say the same.
#include "microbench/report/remote_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "microbench/report/html.h"
#include "microbench/report/plot.h"
#include "microbench/report/units.h"

namespace gt::bench {
namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

constexpr std::array<const char*, Ways> WayTexts = {"to the device", "from the device"};
constexpr std::array<const char*, Ways> WayKeys = {"h2d", "d2h"};
constexpr std::array<const char*, Patterns> PatternKeys = {"window", "single", "unpipelined"};

std::optional<double> ns_of(const Times& times, Way way, Pattern pattern, uint64_t bytes) {
  const TimesBySize& t = times_of(times, way, pattern);
  const auto it = t.find(bytes);
  return it == t.end() || !(it->second.value > 0) ? std::nullopt : std::optional(it->second.value);
}

std::string rate_cell(const Times& times, Way way, Pattern pattern, uint64_t bytes) {
  const auto ns = ns_of(times, way, pattern, bytes);
  return ns ? rate_text(static_cast<double>(bytes), *ns) : "-";
}

std::string share_cell(const RemoteResult& r, const RemoteRoute& route, Way way, Pattern pattern, uint64_t bytes) {
  const auto share = share_of(r, route, way, pattern, bytes);
  return share ? fmt::format("{:.0f} %", *share * 100) : "-";
}

Rows rows_of(const RemoteResult& r, const RemoteRoute& route, Way way) {
  Rows rows = {{"size", "here", "link", "remote", "share", "unpipelined", "here", "link", "remote", "share"}};
  for (const auto& [bytes, ns] : times_of(route.remote, way, Pattern::Window)) {
    std::vector<std::string> row = {size_text(static_cast<double>(bytes))};
    for (const Pattern p : {Pattern::Window, Pattern::Single}) {
      row.push_back(rate_cell(r.native, way, p, bytes));
      row.push_back(rate_cell(route.link, way, p, bytes));
      row.push_back(rate_cell(route.remote, way, p, bytes));
      row.push_back(share_cell(r, route, way, p, bytes));
      if (p == Pattern::Window) row.push_back(rate_cell(route.remote, way, Pattern::Unpipelined, bytes));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string text_of(const Rows& rows) {
  std::string out;
  for (const auto& row : rows) {
    for (size_t c = 0; c < row.size(); ++c) out += fmt::format("{:>{}}", row[c], c == 5 ? 13 : c == 6 ? 11 : 9);
    out += "\n";
  }
  return out;
}

std::string title_of(const RemoteRoute& route, size_t way) {
  return fmt::format("{}, {}{}", route.url, WayTexts[way], route.raw.empty() ? "" : "; link: " + route.raw);
}

std::string idle_text(const RemoteResult::Idle& idle) {
  return fmt::format("The proxy with {} clients that do nothing: {:.2f} % of a core\n", idle.clients,
                     idle.cores * 100);
}

constexpr const char* Explained =
    "GB/s. here: the device without a link; link: the raw link; share: of the slower of both. A window has 32 "
    "transfers that do not block (fewer beyond 256 MiB in all); unpipelined: one by one in pieces of 1 MiB.";

Json median_json(const model::Median& m) { return {{"ns", m.value}, {"low", m.low}, {"high", m.high}}; }

Json times_json(const Times& times) {
  Json out = Json::object();
  for (size_t w = 0; w < Ways; ++w)
    for (size_t p = 0; p < Patterns; ++p)
      for (const auto& [bytes, m] : times[w][p]) {
        Json entry = median_json(m);
        entry["bytes"] = bytes;
        out[WayKeys[w]][PatternKeys[p]].push_back(std::move(entry));
      }
  return out;
}

Json shares_json(const RemoteResult& r, const RemoteRoute& route) {
  Json out = Json::object();
  for (size_t w = 0; w < Ways; ++w)
    for (const Pattern p : {Pattern::Window, Pattern::Single})
      for (const auto& [bytes, m] : times_of(route.remote, static_cast<Way>(w), p))
        if (const auto share = share_of(r, route, static_cast<Way>(w), p, bytes))
          out[WayKeys[w]][PatternKeys[static_cast<size_t>(p)]].push_back({{"bytes", bytes}, {"share", *share}});
  return out;
}

PlotLine line(const std::string& name, size_t color, const TimesBySize& times, bool dashed = false) {
  PlotLine out{name, color, {}, {}, {}, dashed};
  for (const auto& [bytes, m] : times) {
    const double b = static_cast<double>(bytes);
    out.curve.push_back({b, b / m.value});
    out.marks.push_back({b, b / m.value, b / m.high, b / m.low,
                         fmt::format("{}: {} GB/s", size_text(b), rate_text(b, m.value))});
  }
  return out;
}

std::string route_figure(const RemoteResult& r, const RemoteRoute& route, Way way) {
  Plot plot{fmt::format("A window of transfers {}", WayTexts[static_cast<size_t>(way)]), Axis::Bytes,
            Axis::GigabytesPerSecond, "size", "GB/s", {}};
  const auto add = [&](const char* name, size_t color, const Times& times, Pattern p, bool dashed = false) {
    if (!times_of(times, way, p).empty()) plot.lines.push_back(line(name, color, times_of(times, way, p), dashed));
  };
  add("the device here", 0, r.native, Pattern::Window, true);
  add("the raw link", 2, route.link, Pattern::Window, true);
  add("remote", 1, route.remote, Pattern::Window);
  add("remote, unpipelined", 4, route.remote, Pattern::Unpipelined);
  return figure(plot);
}

}  // namespace

std::optional<double> share_of(const RemoteResult& result, const RemoteRoute& route, Way way, Pattern pattern,
                               uint64_t bytes) {
  const auto remote = ns_of(route.remote, way, pattern, bytes), link = ns_of(route.link, way, pattern, bytes),
             native = ns_of(result.native, way, pattern, bytes);
  if (!remote || !link || !native) return {};
  return std::max(*link, *native) / *remote;
}

std::string remote_table(const RemoteResult& r) {
  std::string out = fmt::format("{} ({}, driver {})\n{}\n", r.name, r.platform, r.driver, Explained);
  for (const RemoteRoute& route : r.routes)
    for (size_t w = 0; w < Ways; ++w)
      out += fmt::format("\n{}\n{:>9}{:>28}{:>44}\n", title_of(route, w), "", "a window", "one at a time") +
             text_of(rows_of(r, route, static_cast<Way>(w)));
  return r.idle ? out + "\n" + idle_text(*r.idle) : out;
}

std::string remote_json(const RemoteResult& r) {
  Json out = {{"format", "gtrace-remote"}, {"version", 1},
              {"device", {{"platform", r.platform}, {"name", r.name}, {"driver", r.driver}}},
              {"native", r.has_native ? times_json(r.native) : Json()}, {"routes", Json::array()}};
  for (const RemoteRoute& route : r.routes)
    out["routes"].push_back({{"url", route.url},
                             {"remote", times_json(route.remote)},
                             {"link", route.raw.empty() ? Json() : times_json(route.link)},
                             {"share", shares_json(r, route)}});
  out["idle"] = r.idle ? Json{{"clients", r.idle->clients}, {"cores", r.idle->cores}} : Json();
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string remote_page(const RemoteResult& r) {
  std::string body = fmt::format("<p>{}, {}, driver {}</p>\n<p class=\"soft\">{}</p>\n", escaped(r.name),
                                 escaped(r.platform), escaped(r.driver), escaped(Explained));
  for (const RemoteRoute& route : r.routes) {
    body += "<h2>" + escaped(route.url) + "</h2>\n<div class=\"plots\">";
    for (size_t w = 0; w < Ways; ++w) body += route_figure(r, route, static_cast<Way>(w));
    body += "</div>\n";
    for (size_t w = 0; w < Ways; ++w)
      body += "<h3>" + escaped(title_of(route, w)) + "</h3>\n<p class=\"soft\">A window, then one at a time.</p>\n" +
              html_table(rows_of(r, route, static_cast<Way>(w)));
  }
  if (r.idle) body += "<p>" + escaped(idle_text(*r.idle)) + "</p>\n";
  return html_page("A device from elsewhere", body);
}

}  // namespace gt::bench
