// The frame of a page and its style.
#include "microbench/report/html.h"

namespace gt::bench {
namespace {

// Colours: after Okabe and Ito, told apart by the colour-blind too; lighter ones in the dark.
constexpr std::string_view Style = R"css(
:root { --back: #fff; --text: #1b1f24; --soft: #5b6470; --rule: #d5dae0; --grid: #e6e9ed;
  --c0: #5b6470; --c1: #0072b2; --c2: #d55e00; --c3: #009e73; --c4: #b3478f; --c5: #8a6d00; --c6: #00829b; }
@media (prefers-color-scheme: dark) {
  :root { --back: #14171b; --text: #e6e9ed; --soft: #9aa4b0; --rule: #363c44; --grid: #262b31;
    --c0: #b4bcc6; --c1: #5cb3ec; --c2: #ff9550; --c3: #3fd6a5; --c4: #ee94cb; --c5: #e5c64a; --c6: #52d3e8; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 84rem; background: var(--back); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .3rem; } h2 { font-size: 1.2rem; margin: 2.2rem 0 .4rem; }
h3 { font-size: 1rem; margin: 1.4rem 0 .4rem; }
p { margin: .3rem 0; max-width: 60rem; } .soft { color: var(--soft); }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(30rem, 100%), 1fr)); gap: 1.2rem; }
figure { margin: .6rem 0 0; } figcaption { font-weight: 600; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--soft); font: 11px system-ui, sans-serif; }
.grid { stroke: var(--grid); } .axis { stroke: var(--rule); }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; } .dashed { stroke-dasharray: 6 4; }
.band { stroke: none; opacity: .18; } .sample { stroke: none; opacity: .3; } .mark { stroke: none; }
.legend { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; margin: .2rem 0 0; padding: 0; list-style: none; }
.legend span { display: inline-block; width: 1.4em; height: 3px; margin-right: .4em; vertical-align: middle; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .4rem 0; font-size: 13.5px; }
th, td { padding: .15rem .7rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--rule); }
th { font-weight: 600; } th:first-child { text-align: left; }
)css";

std::string color_classes() {
  std::string out;
  for (const char c : {'0', '1', '2', '3', '4', '5', '6'}) {
    const std::string name(1, c);
    out += ".line.c" + name + " { stroke: var(--c" + name + "); } .fill.c" + name + " { fill: var(--c" + name +
           "); } span.c" + name + " { background: var(--c" + name + "); }\n";
  }
  return out;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? ' ' : c;
    }
  }
  return out;
}

std::string html_table(const std::vector<std::vector<std::string>>& rows) {
  std::string out = "<div class=\"scroll\"><table>\n";
  for (size_t r = 0; r < rows.size(); ++r) {
    out += "<tr>";
    for (size_t c = 0; c < rows[r].size(); ++c) {
      const char* cell = r == 0 ? "th" : c == 0 ? "th" : "td";
      out += std::string("<") + cell + ">" + escaped(rows[r][c]) + "</" + cell + ">";
    }
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

std::string html_page(std::string_view title, std::string_view body) {
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n";
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  out += "<meta name=\"color-scheme\" content=\"light dark\">\n";
  out += "<title>" + escaped(title) + "</title>\n<style>" + std::string(Style) + color_classes() + "</style>\n";
  return out + "</head>\n<body>\n<h1>" + escaped(title) + "</h1>\n" + std::string(body) + "</body>\n</html>\n";
}

}  // namespace gt::bench
