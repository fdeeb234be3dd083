// SQLite, opened for writing our own file or for reading anybody's.
#include "traces/store/db.h"

#include <cerrno>
#include <cstring>

namespace gt::store {
namespace {

constexpr int StepsPerCheck = 10000;

int spend_steps(void* left) {
  auto& steps = *static_cast<uint64_t*>(left);
  if (steps < StepsPerCheck) return 1;
  steps -= StepsPerCheck;
  return 0;
}

// "file:" URIs keep ?, # and % for themselves.
std::string uri_of(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '?' || c == '#' || c == '%') {
      constexpr char Hex[] = "0123456789abcdef";
      uri += {'%', Hex[(c >> 4) & 15], Hex[c & 15]};
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

void restrict(sqlite3* db) {
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, 100'000);
  sqlite3_limit(db, SQLITE_LIMIT_COLUMN, 100);
  sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 50);
  sqlite3_limit(db, SQLITE_LIMIT_VDBE_OP, 100'000);
  sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(db, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
}

}  // namespace

Database::Database(sqlite3* db, uint64_t budget_steps)
    : db_(db, &sqlite3_close), steps_left_(std::make_unique<uint64_t>(budget_steps)) {}

Result<Database> Database::create(const std::string& path) {
  sqlite3* raw = nullptr;
  const int rc =
      sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  Database db(raw, 0);
  db.writing_ = true;
  if (rc != SQLITE_OK) return db.error();
  // The file is thrown away when anything fails, so no journal is needed; fsync comes once, at the
  // end.
  GT_TRY(
      db.run("PRAGMA page_size=4096; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
             "PRAGMA locking_mode=EXCLUSIVE;"));
  return db;
}

Result<Database> Database::open(const std::string& path, uint64_t budget_steps) {
  sqlite3* raw = nullptr;
  const int rc =
      sqlite3_open_v2(uri_of(path).c_str(), &raw, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  Database db(raw, budget_steps);
  if (rc != SQLITE_OK) return db.error();
  restrict(raw);
  sqlite3_progress_handler(raw, StepsPerCheck, &spend_steps, db.steps_left_.get());
  GT_TRY(db.run("PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA query_only=ON;"));
  return db;
}

Status Database::run(const char* sql) {
  return sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK ? Status() : error();
}

Result<Statement> Database::prepare(const std::string& sql) {
  sqlite3_stmt* s = nullptr;
  if (sqlite3_prepare_v2(db_.get(), sql.c_str(), static_cast<int>(sql.size()), &s, nullptr) !=
      SQLITE_OK) {
    return error();
  }
  return Statement(s);
}

Result<int64_t> Database::number(const char* sql) {
  Result<Statement> s = prepare(sql);
  if (!s) return s.status();
  if (sqlite3_step(s->get()) != SQLITE_ROW) return error();
  return int64_t{sqlite3_column_int64(s->get(), 0)};
}

// SQLite's words may quote the file's own text: one line of them, and not too long.
static std::string one_line(std::string_view words) {
  constexpr size_t Most = 120;
  std::string out;
  for (const char c : words.substr(0, Most)) out += c >= ' ' && c < 127 ? c : '?';
  return out;
}

Status Database::error() const {
  if (!db_) return {Kind::System, "not enough memory", ENOMEM};
  const int code = sqlite3_errcode(db_.get()), err = sqlite3_system_errno(db_.get());
  if (code == SQLITE_NOMEM) return {Kind::System, "not enough memory", ENOMEM};
  if (writing_) return system_error("cannot write", err ? err : code == SQLITE_FULL ? ENOSPC : EIO);
  switch (code) {
    case SQLITE_NOTADB:
      return {Kind::Corrupt, "not a gtrace trace (not an SQLite file)"};
    case SQLITE_INTERRUPT:
      return {Kind::Corrupt,
              "the trace is damaged (reading it takes far longer than its size warrants)"};
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      return system_error("cannot open", err ? err : EACCES);
    case SQLITE_IOERR:
      if (err) return system_error("cannot read", err);
      return {Kind::Corrupt, "the trace is damaged or cut short (it ends too early)"};
    default:
      return {Kind::Corrupt, "the trace is damaged (" + one_line(sqlite3_errmsg(db_.get())) + ")"};
  }
}

Status Database::close() {
  if (sqlite3_close(db_.get()) != SQLITE_OK) return error();
  (void)db_.release();
  return {};
}

}  // namespace gt::store
