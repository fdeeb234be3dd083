// A table of text: aligned columns that fit a width, coloured only where asked.
// Thread safety: none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tracer/gtrace/base/output.h"

namespace gt::tracer {

size_t display_width(std::string_view utf8);  // code points: our texts have no wide characters
std::string fit(std::string_view utf8, size_t width);  // cut with "…" when longer

struct TextStyle {
  size_t width = 0;  // 0: as wide as it needs to be
  bool color = false;
};

class Table {
 public:
  struct Column {
    std::string title;
    bool right = false;  // numbers
    size_t least = 0;    // may be cut down to this many columns to fit; 0: never cut
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void row(std::vector<std::string> cells) { rows_.push_back({std::move(cells), false}); }
  void faint_row(std::vector<std::string> cells) { rows_.push_back({std::move(cells), true}); }
  bool empty() const { return rows_.empty(); }
  void print(Output& out, const TextStyle& style) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    bool faint;
  };
  std::vector<size_t> widths(size_t total) const;
  void line(Output& out, const std::vector<std::string>& cells,
            const std::vector<size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace gt::tracer
