// Cells to text.
#include "analyzer/query/row_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analyzer/base/output.h"
#include "analyzer/base/text.h"

namespace gt::analyzer {
namespace {

constexpr size_t RowsToMeasure = 500;
constexpr size_t MostTableCell = 200;  // bytes; CSV and JSON have them whole
constexpr size_t BufferBytes = 1 << 16;

using Json = nlohmann::ordered_json;

std::string hex(const void* data, int size) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  std::string out;
  for (int i = 0; i < size; ++i) out += fmt::format("{:02x}", bytes[i]);
  return out;
}

std::string text_of(sqlite3_stmt* s, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(s, column));
  return text ? std::string(text, static_cast<size_t>(sqlite3_column_bytes(s, column))) : std::string();
}

size_t width_of(const std::string& utf8) {
  return static_cast<size_t>(std::count_if(utf8.begin(), utf8.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string table_text(std::string cell) {
  if (cell.size() > MostTableCell) {
    size_t end = MostTableCell;
    while (end > 0 && (cell[end] & 0xc0) == 0x80) --end;
    cell = cell.substr(0, end) + "...";
  }
  return printable(cell);
}

std::string quoted(const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string out = "\"";
  for (const char c : cell) out.append(c == '"' ? 2 : 1, c);
  return out + '"';
}

}  // namespace

RowPrinter::RowPrinter(RowFormat format, sqlite3_stmt* statement) : format_(format), statement_(statement) {
  for (int i = 0; i < sqlite3_column_count(statement); ++i) {
    const char* name = sqlite3_column_name(statement, i);
    std::string unique = name ? name : "";
    for (int n = 2; std::find(names_.begin(), names_.end(), unique) != names_.end(); ++n) {
      unique = fmt::format("{}_{}", name ? name : "", n);
    }
    names_.push_back(unique);
  }
  number_.assign(names_.size(), true);
  if (format == RowFormat::Csv) csv_line(names_);
  if (format == RowFormat::Json) write("[");
}

void RowPrinter::add() {
  if (format_ == RowFormat::Table) add_table_row();
  if (format_ == RowFormat::Json) add_json_row();
  if (format_ == RowFormat::Csv) {
    std::vector<std::string> cells;
    for (int i = 0; i < static_cast<int>(names_.size()); ++i) cells.push_back(cell(i));
    csv_line(cells);
  }
  ++rows_;
}

void RowPrinter::finish() {
  if (format_ == RowFormat::Table) write_kept();
  if (format_ == RowFormat::Json) write(rows_ ? "\n]\n" : "]\n");
  flush();
}

std::string RowPrinter::cell(int column) const {
  switch (sqlite3_column_type(statement_, column)) {
    case SQLITE_NULL:
      return format_ == RowFormat::Table ? "-" : "";
    case SQLITE_FLOAT: {
      const double v = sqlite3_column_double(statement_, column);
      return format_ == RowFormat::Table ? fmt::format("{:.6g}", v) : fmt::format("{}", v);
    }
    case SQLITE_BLOB: {
      const int size = sqlite3_column_bytes(statement_, column);
      if (format_ == RowFormat::Table) return fmt::format("({} bytes)", size);
      return hex(sqlite3_column_blob(statement_, column), size);
    }
    default:
      return text_of(statement_, column);
  }
}

void RowPrinter::add_table_row() {
  std::vector<std::string> cells;
  for (int i = 0; i < static_cast<int>(names_.size()); ++i) {
    const int type = sqlite3_column_type(statement_, i);
    if (!measured_ && type != SQLITE_INTEGER && type != SQLITE_FLOAT && type != SQLITE_NULL) {
      number_[static_cast<size_t>(i)] = false;
    }
    cells.push_back(table_text(cell(i)));
  }
  if (measured_) return table_line(cells);
  kept_.push_back(std::move(cells));
  if (kept_.size() == RowsToMeasure) write_kept();
}

void RowPrinter::write_kept() {
  if (measured_) return;
  measured_ = true;
  for (const std::string& name : names_) widths_.push_back(width_of(name));
  for (const auto& row : kept_)
    for (size_t i = 0; i < row.size(); ++i) widths_[i] = std::max(widths_[i], width_of(row[i]));
  table_line(names_);
  for (const auto& row : kept_) table_line(row);
  kept_.clear();
}

void RowPrinter::table_line(const std::vector<std::string>& cells) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    const size_t width = width_of(cells[i]);
    const std::string pad(widths_[i] > width ? widths_[i] - width : 0, ' ');
    line += (i ? "  " : "") + (number_[i] ? pad + cells[i] : cells[i] + pad);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  write(line + "\n");
}

void RowPrinter::csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) line += (i ? "," : "") + quoted(cells[i]);
  write(line + "\n");
}

void RowPrinter::add_json_row() {
  Json row = Json::object();
  for (int i = 0; i < static_cast<int>(names_.size()); ++i) {
    Json& value = row[names_[static_cast<size_t>(i)]];
    const int type = sqlite3_column_type(statement_, i);
    if (type == SQLITE_INTEGER) value = static_cast<int64_t>(sqlite3_column_int64(statement_, i));
    if (type == SQLITE_FLOAT) value = sqlite3_column_double(statement_, i);  // infinity becomes null
    if (type == SQLITE_TEXT || type == SQLITE_BLOB) value = cell(i);
  }
  write((rows_ ? ",\n " : "\n ") + row.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void RowPrinter::write(const std::string& text) {
  buffer_ += text;
  if (buffer_.size() >= BufferBytes) flush();
}

void RowPrinter::flush() {
  if (error_ == 0) error_ = write_output(buffer_);
  buffer_.clear();
}

}  // namespace gt::analyzer
