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

RowPrinter::RowPrinter(RowFormat format, sqlite3_stmt* statement) : x_format(format), x_statement(statement) {
  for (int i = 0; i < sqlite3_column_count(statement); ++i) {
    const char* name = sqlite3_column_name(statement, i);
    std::string unique = name ? name : "";
    for (int n = 2; std::find(x_names.begin(), x_names.end(), unique) != x_names.end(); ++n) {
      unique = fmt::format("{}_{}", name ? name : "", n);
    }
    x_names.push_back(unique);
  }
  x_number.assign(x_names.size(), true);
  if (format == RowFormat::Csv) csv_line(x_names);
  if (format == RowFormat::Json) write("[");
}

void RowPrinter::add() {
  if (x_format == RowFormat::Table) add_table_row();
  if (x_format == RowFormat::Json) add_json_row();
  if (x_format == RowFormat::Csv) {
    std::vector<std::string> cells;
    for (int i = 0; i < static_cast<int>(x_names.size()); ++i) cells.push_back(cell(i));
    csv_line(cells);
  }
  ++x_rows;
}

void RowPrinter::finish() {
  if (x_format == RowFormat::Table) write_kept();
  if (x_format == RowFormat::Json) write(x_rows ? "\n]\n" : "]\n");
  flush();
}

std::string RowPrinter::cell(int column) const {
  switch (sqlite3_column_type(x_statement, column)) {
    case SQLITE_NULL:
      return x_format == RowFormat::Table ? "-" : "";
    case SQLITE_FLOAT: {
      const double v = sqlite3_column_double(x_statement, column);
      return x_format == RowFormat::Table ? fmt::format("{:.6g}", v) : fmt::format("{}", v);
    }
    case SQLITE_BLOB: {
      const int size = sqlite3_column_bytes(x_statement, column);
      if (x_format == RowFormat::Table) return fmt::format("({} bytes)", size);
      return hex(sqlite3_column_blob(x_statement, column), size);
    }
    default:
      return text_of(x_statement, column);
  }
}

void RowPrinter::add_table_row() {
  std::vector<std::string> cells;
  for (int i = 0; i < static_cast<int>(x_names.size()); ++i) {
    const int type = sqlite3_column_type(x_statement, i);
    if (!x_measured && type != SQLITE_INTEGER && type != SQLITE_FLOAT && type != SQLITE_NULL) {
      x_number[static_cast<size_t>(i)] = false;
    }
    cells.push_back(table_text(cell(i)));
  }
  if (x_measured) return table_line(cells);
  x_kept.push_back(std::move(cells));
  if (x_kept.size() == RowsToMeasure) write_kept();
}

void RowPrinter::write_kept() {
  if (x_measured) return;
  x_measured = true;
  for (const std::string& name : x_names) x_widths.push_back(width_of(name));
  for (const auto& row : x_kept)
    for (size_t i = 0; i < row.size(); ++i) x_widths[i] = std::max(x_widths[i], width_of(row[i]));
  table_line(x_names);
  for (const auto& row : x_kept) table_line(row);
  x_kept.clear();
}

void RowPrinter::table_line(const std::vector<std::string>& cells) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    const size_t width = width_of(cells[i]);
    const std::string pad(x_widths[i] > width ? x_widths[i] - width : 0, ' ');
    line += (i ? "  " : "") + (x_number[i] ? pad + cells[i] : cells[i] + pad);
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
  for (int i = 0; i < static_cast<int>(x_names.size()); ++i) {
    Json& value = row[x_names[static_cast<size_t>(i)]];
    const int type = sqlite3_column_type(x_statement, i);
    if (type == SQLITE_INTEGER) value = static_cast<int64_t>(sqlite3_column_int64(x_statement, i));
    if (type == SQLITE_FLOAT) value = sqlite3_column_double(x_statement, i);  // infinity becomes null
    if (type == SQLITE_TEXT || type == SQLITE_BLOB) value = cell(i);
  }
  write((x_rows ? ",\n " : "\n ") + row.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void RowPrinter::write(const std::string& text) {
  x_buffer += text;
  if (x_buffer.size() >= BufferBytes) flush();
}

void RowPrinter::flush() {
  if (x_error == 0) x_error = write_output(x_buffer);
  x_buffer.clear();
}

}  // namespace gt::analyzer
