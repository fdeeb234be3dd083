// Laying out text.
#include "analyzer/base/text.h"

#include <algorithm>

namespace gt::analyzer {
namespace {

size_t columns(std::string_view utf8) {
  return static_cast<size_t>(
      std::count_if(utf8.begin(), utf8.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

// A first column below this says too little.
constexpr size_t LeastFirst = 24;

// The last `width` columns of a text, after "..."; of "rule at place" the rule stays as well.
std::string keep_end(const std::string& text, size_t width) {
  if (columns(text) <= width || width <= 3) return text;
  constexpr std::string_view At = " at ";
  const size_t place = text.find(At);
  if (place != std::string::npos && place + At.size() < width / 2) {
    const size_t head = place + At.size();
    return text.substr(0, head) + keep_end(text.substr(head), width - columns(std::string_view(text).substr(0, head)));
  }
  size_t from = text.size();
  for (size_t left = width - 3; from > 0 && left > 0;) {
    --from;
    if ((text[from] & 0xc0) != 0x80) --left;
  }
  return "..." + text.substr(from);
}

// Where the first word ends. One that begins with a quote ends where a shell ends it.
size_t word_end(std::string_view text) {
  const size_t blank = std::min(text.find(' '), text.size());
  if (!text.starts_with('\'')) return blank;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\'') quoted = !quoted;
    if (text[i] == '\\' && !quoted) ++i;
    if (text[i] == ' ' && !quoted) return i;
  }
  return quoted ? blank : text.size();
}

}  // namespace

std::string bar_text(uint64_t part, uint64_t whole, size_t width) {
  if (whole == 0 || part == 0) return {};
  const double share = static_cast<double>(part) / static_cast<double>(whole);
  const auto length = static_cast<size_t>(share * static_cast<double>(width) + 0.5);
  return std::string(std::clamp<size_t>(length, 1, width), '#');
}

std::string printable(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return out;
}

void Text::begin(const char* code) {
  if (color_) out_ += code;
}
void Text::end() {
  if (color_) out_ += "\x1b[0m";
}

void Text::heading(std::string_view title) {
  out_ += '\n';
  begin("\x1b[1m");
  out_ += title;
  end();
  out_ += '\n';
}

void Text::verdict(std::string_view text, Tone tone) {
  out_ += '\n';
  begin(tone == Tone::Good ? "\x1b[1;32m" : "\x1b[1;33m");
  wrapped(text, 0);
  end();
  out_ += '\n';
}

void Text::wrapped(std::string_view text, size_t indent) {
  size_t column = 0;
  while (!text.empty()) {
    const size_t end = word_end(text);
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    const size_t size = columns(word);
    if (column > 0 && column + 1 + size > width_) {
      out_ += '\n';
      column = 0;
    }
    if (column == 0) {
      out_.append(indent, ' ');
      column = indent;
    } else {
      out_ += ' ';
      ++column;
    }
    out_ += word;
    column += size;
  }
}

void Text::paragraph(std::string_view text, size_t indent) {
  wrapped(text, indent);
  out_ += '\n';
}

void Text::faint(std::string_view text, size_t indent) {
  begin("\x1b[2m");
  wrapped(text, indent);
  end();
  out_ += '\n';
}

void Text::line(const std::vector<std::string>& cells, const std::vector<size_t>& widths,
                size_t right) {
  std::string out = "  ";
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string cell = i == 0 ? keep_end(cells[i], widths[i]) : cells[i];
    const size_t size = columns(cell);
    const std::string pad(widths[i] > size ? widths[i] - size : 0, ' ');
    if (i > 0) out += "  ";
    out += i >= right ? pad + cell : cell + pad;
  }
  out.erase(out.find_last_not_of(' ') + 1);
  out_ += out + "\n";
}

// Cells that say nothing are left out.
void Text::records(const std::vector<std::vector<std::string>>& rows) {
  for (size_t r = 1; r < rows.size(); ++r) {
    std::string facts;
    for (size_t i = 1; i < rows[r].size(); ++i) {
      if (rows[r][i].empty() || rows[r][i] == "-") continue;
      std::string name = rows[0][i];
      if (!name.empty()) name += ' ';
      facts += (facts.empty() ? "" : ", ") + name + rows[r][i];
    }
    paragraph(rows[r][0], 2);
    paragraph(facts, 6);
  }
}

void Text::table(const std::vector<std::vector<std::string>>& rows, size_t right) {
  if (rows.empty()) return;
  std::vector<size_t> widths(rows[0].size());
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  size_t others = 2;
  for (size_t i = 1; i < widths.size(); ++i) others += widths[i] + 2;
  if (others + widths[0] > width_) {
    if (others + LeastFirst > width_) return records(rows);
    widths[0] = width_ - others;
  }
  const auto empty = [](const std::string& title) { return title.empty(); };
  if (!std::all_of(rows[0].begin(), rows[0].end(), empty)) {
    begin("\x1b[2m");
    line(rows[0], widths, right);
    end();
  }
  for (size_t i = 1; i < rows.size(); ++i) line(rows[i], widths, right);
}

}  // namespace gt::analyzer
