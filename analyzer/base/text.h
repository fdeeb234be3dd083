// Paragraphs, headings and tables that fit a width.
// Thread safety: none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gt::analyzer {

class Text {
 public:
  Text(size_t width, bool color) : width_(width < 40 ? 40 : width), color_(color) {}

  void heading(std::string_view title);
  void paragraph(std::string_view text, size_t indent = 0);
  void faint(std::string_view text, size_t indent = 0);
  // A heading that is good or bad news, which its colour says on a terminal.
  enum class Tone : uint8_t { Good, Bad };
  void verdict(std::string_view text, Tone tone);
  // The first row is the header; one of empty titles is not shown. Columns from `right` on are numbers, aligned to the
  // right. When the table is too wide its first column is cut at its start, which keeps the end of a path; when even
  // that is not enough, each row becomes a line with the others below it.
  void table(const std::vector<std::vector<std::string>>& rows, size_t right);

  size_t width() const { return width_; }
  std::string take() { return std::move(out_); }

 private:
  void records(const std::vector<std::vector<std::string>>& rows);
  void wrapped(std::string_view text, size_t indent);
  void line(const std::vector<std::string>& cells, const std::vector<size_t>& widths, size_t right);
  void begin(const char* code);
  void end();

  size_t width_;
  bool color_;
  std::string out_;
};

// A bar of '#' as long as `part` of `whole` is of `width`; at least one when there is any.
std::string bar_text(uint64_t part, uint64_t whole, size_t width);

// Bytes that would confuse a terminal become '?'.
std::string printable(std::string_view text);

}  // namespace gt::analyzer
