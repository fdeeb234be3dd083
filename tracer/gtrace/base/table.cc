// Layout of tables: natural widths first, then the widest column that may shrink gives way.
#include "tracer/gtrace/base/table.h"

#include <algorithm>

namespace gt::tracer {
namespace {

constexpr size_t Gap = 2;
constexpr std::string_view Bold = "\x1b[1m", Faint = "\x1b[2m", Plain = "\x1b[0m";

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

size_t display_width(std::string_view utf8) {
  return static_cast<size_t>(
      std::count_if(utf8.begin(), utf8.end(), [](char c) { return !continues(c); }));
}

std::string fit(std::string_view utf8, size_t width) {
  if (display_width(utf8) <= width) return std::string(utf8);
  if (width == 0) return {};
  size_t end = 0;
  for (size_t points = 0; end < utf8.size(); ++end) {
    if (!continues(utf8[end]) && points++ == width - 1) break;
  }
  return std::string(utf8.substr(0, end)) + "…";
}

std::vector<size_t> Table::widths(size_t total) const {
  std::vector<size_t> w;
  for (const Column& c : columns_) w.push_back(display_width(c.title));
  for (const Row& r : rows_) {
    for (size_t i = 0; i < r.cells.size(); ++i) w[i] = std::max(w[i], display_width(r.cells[i]));
  }
  size_t sum = Gap * (w.size() - 1);
  for (const size_t n : w) sum += n;
  while (total != 0 && sum > total) {
    size_t widest = w.size();
    for (size_t i = 0; i < w.size(); ++i) {
      const bool may = columns_[i].least != 0 && w[i] > columns_[i].least;
      if (may && (widest == w.size() || w[i] > w[widest])) widest = i;
    }
    if (widest == w.size()) break;  // too narrow: lines will wrap
    --w[widest];
    --sum;
  }
  return w;
}

void Table::line(Output& out, const std::vector<std::string>& cells,
                 const std::vector<size_t>& widths) const {
  std::string text;
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string cell = fit(cells[i], widths[i]);
    const std::string fill(widths[i] - display_width(cell), ' ');
    text += columns_[i].right ? fill + cell : cell + fill;
    text.append(Gap, ' ');
  }
  text.erase(text.find_last_not_of(' ') + 1);
  out.write(text);
}

void Table::print(Output& out, const TextStyle& style) const {
  const std::vector<size_t> w = widths(style.width);
  std::vector<std::string> titles;
  for (const Column& c : columns_) titles.push_back(c.title);
  if (style.color) out.write(Bold);
  line(out, titles, w);
  out.write(style.color ? std::string(Plain) + "\n" : "\n");
  for (const Row& r : rows_) {
    if (!out.open()) return;
    if (style.color && r.faint) out.write(Faint);
    line(out, r.cells, w);
    out.write(style.color && r.faint ? std::string(Plain) + "\n" : "\n");
  }
}

}  // namespace gt::tracer
