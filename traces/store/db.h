// SQLite behind two small classes, set up for files that nobody vouches for.
//
// A Database that is read is opened immutable (no locks, no journals are followed), with defensive
// settings, small limits, and a budget of virtual machine steps, so that a hostile file ends in an
// error and never in a hang. Thread safety: none; one thread per Database.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <string>
#include <string_view>

#include "traces/base/bytes.h"
#include "traces/base/status.h"

namespace gt::store {

constexpr int ApplicationId = 0x47545243;  // "GTRC" in the file's header
extern const char* const Schema;           // schema.sql

class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* s) : stmt_(s, &sqlite3_finalize) {}
  sqlite3_stmt* get() const { return stmt_.get(); }

 private:
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> stmt_{nullptr, &sqlite3_finalize};
};

class Database {
 public:
  // A new file; it must not exist.
  static Result<Database> create(const std::string& path);
  // `budget_steps` bounds all the work that later statements may do.
  static Result<Database> open(const std::string& path, uint64_t budget_steps);

  Status run(const char* sql);
  Result<Statement> prepare(const std::string& sql);
  Result<int64_t> number(const char* sql);  // the first column of the first row
  sqlite3* handle() const { return db_.get(); }  // for what only readers of SQL need; lent
  // What went wrong last, in one line: System when writing, Corrupt for damaged files that are read.
  Status error() const;
  // Closes; the error of the last write, if any.
  Status close();

 private:
  using Handle = std::unique_ptr<sqlite3, int (*)(sqlite3*)>;
  Database(sqlite3* db, uint64_t budget_steps);

  Handle db_;
  bool writing_ = false;
  std::unique_ptr<uint64_t>
      steps_left_;  // counted down by the progress handler, which holds its address
};

}  // namespace gt::store
