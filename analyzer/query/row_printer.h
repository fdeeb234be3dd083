// Rows of an SQL answer as an aligned table, CSV or JSON, written while they come.
//
// Memory: a table keeps the first rows to find the widths of its columns, then one row at a time; a later cell that is
// wider pushes the rest of its row.
// Thread safety: none.
#pragma once

#include <sqlite3.h>

#include <string>
#include <vector>

namespace gt::analyzer {

enum class RowFormat { Table, Csv, Json };

class RowPrinter {
 public:
  RowPrinter(RowFormat format, sqlite3_stmt* statement);  // writes to standard output

  void add();     // the row on which the statement stands
  void finish();  // once, also after an error: what was written so far becomes whole

  bool open() const { return error_ == 0; }  // false: nobody reads, or nothing can be written
  int error() const { return error_; }       // errno
  uint64_t rows() const { return rows_; }

 private:
  std::string cell(int column) const;
  void add_table_row();
  void write_kept();
  void table_line(const std::vector<std::string>& cells);
  void csv_line(const std::vector<std::string>& cells);
  void add_json_row();
  void write(const std::string& text);
  void flush();

  RowFormat format_;
  sqlite3_stmt* statement_;
  std::vector<std::string> names_;
  std::vector<std::vector<std::string>> kept_;  // of a table, until its widths are known
  std::vector<size_t> widths_;
  std::vector<bool> number_;
  bool measured_ = false;
  uint64_t rows_ = 0;
  std::string buffer_;
  int error_ = 0;
};

}  // namespace gt::analyzer
