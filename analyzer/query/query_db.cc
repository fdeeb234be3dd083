// Opening a trace for questions.
#include "analyzer/query/query_db.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "analyzer/calls/call_values.h"
#include "analyzer/code/call_site.h"
#include "traces/api/api.h"
#include "traces/store/function_facts.h"
#include "traces/store/trace_db.h"

namespace gt::analyzer {

namespace {

constexpr int StepsPerCheck = 10000;
constexpr int64_t MostHeapBytes = int64_t{512} << 20;  // of SQLite, beyond the trace itself
constexpr int MostValueBytes = 64 << 20;

std::string one_line(std::string_view words) {
  std::string out(words.substr(0, 300));
  for (char& c : out)
    if (static_cast<unsigned char>(c) < ' ' || c == 127) c = ' ';
  return out;
}

bool may_ask_pragma(const char* name, const char* value) {
  if (std::strcmp(name, "user_version") == 0 || std::strcmp(name, "application_id") == 0) return value == nullptr;
  for (const char* info : {"table_info", "table_xinfo", "table_list", "index_list", "index_info"})
    if (std::strcmp(name, info) == 0) return true;
  return false;
}

int authorize(void*, int action, const char* first, const char* second, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return second && std::strcmp(second, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA:
      return first && may_ask_pragma(first, second) ? SQLITE_OK : SQLITE_DENY;
    default:
      return SQLITE_DENY;
  }
}

// The views of schema.sql as temporary ones, which come before those of the file.
std::string temporary_views() {
  std::string schema = store::Schema;
  constexpr std::string_view Create = "CREATE VIEW", Temporary = "CREATE TEMP VIEW";
  schema.erase(0, std::min(schema.find(Create), schema.size()));
  for (size_t at = 0; (at = schema.find(Create, at)) != std::string::npos; at += Temporary.size()) {
    schema.replace(at, Create.size(), Temporary);
  }
  return schema;
}

// Of a function call: the shape that its first argument numbers; null when there is none.
const model::Shape* shape_of(const model::Trace& trace, sqlite3_value* value, model::ShapeId& id) {
  const int64_t n = sqlite3_value_int64(value);
  if (sqlite3_value_type(value) == SQLITE_NULL || n < 0 || n >= static_cast<int64_t>(trace.shapes.size()))
    return nullptr;
  id = static_cast<model::ShapeId>(n);
  return &trace.shapes[id];
}

void put(sqlite3_context* context, std::optional<int64_t> value) {
  if (value) return sqlite3_result_int64(context, *value);
  sqlite3_result_null(context);
}

std::optional<int64_t> does_block(const model::Trace& trace, model::ShapeId id) {
  const model::FnId fn = trace.shapes[id].fn;
  if (store::is_alloc_fn(fn) || store::is_callback_fn(fn)) return 0;
  const api::Attributes& what = api::attributes(fn);
  if (what.waits || what.blocking < 0) return what.waits ? 1 : 0;
  const auto value = constant_value(trace, id, static_cast<uint16_t>(what.blocking));
  if (!value) return std::nullopt;
  return *value != 0 ? 1 : 0;
}

// The functions of a query see what belongs to the trace through their user data.
struct Seen {
  const model::Trace& trace;
  CallSites& sites;
};
Seen& seen_by(sqlite3_context* context) { return *static_cast<Seen*>(sqlite3_user_data(context)); }

void place_function(sqlite3_context* context, int, sqlite3_value** values) {
  const Seen& s = seen_by(context);
  const int64_t site = sqlite3_value_int64(values[0]);
  const bool null = sqlite3_value_type(values[0]) == SQLITE_NULL;
  if (null || site < 0 || site >= static_cast<int64_t>(s.trace.sites.size())) return sqlite3_result_null(context);
  const std::string text = s.sites.find(s.trace, static_cast<model::SiteId>(site)).places();
  sqlite3_result_text(context, text.c_str(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

void constant_function(sqlite3_context* context, int, sqlite3_value** values) {
  const model::Trace& trace = seen_by(context).trace;
  model::ShapeId id = 0;
  const int64_t param = sqlite3_value_int64(values[1]);
  const bool known = shape_of(trace, values[0], id) && param >= 0 && param <= UINT16_MAX;
  put(context, known ? constant_value(trace, id, static_cast<uint16_t>(param)) : std::nullopt);
}

void blocks_function(sqlite3_context* context, int, sqlite3_value** values) {
  const model::Trace& trace = seen_by(context).trace;
  model::ShapeId id = 0;
  put(context, shape_of(trace, values[0], id) ? does_block(trace, id) : std::nullopt);
}

void add_functions(sqlite3* db, Seen* seen) {
  constexpr int Pure = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
  sqlite3_create_function(db, "place", 1, Pure, seen, &place_function, nullptr, nullptr);
  sqlite3_create_function(db, "constant", 2, Pure, seen, &constant_function, nullptr, nullptr);
  sqlite3_create_function(db, "blocks", 1, Pure, seen, &blocks_function, nullptr, nullptr);
}

// An older trace is written anew in the present format, in a file that is gone once it is open.
Result<store::Database> open_present(const std::string& path, const model::Trace& trace) {
  auto db = store::Database::open(path, UINT64_MAX);
  if (!db) return db.status().at(path);
  const auto version = db->number("PRAGMA user_version");
  if (!version) return version.status().at(path);
  if (*version == store::FormatVersion) return db;
  std::error_code error;
  std::string folder = (std::filesystem::temp_directory_path(error) / "ganalyze.XXXXXX").string();
  if (!::mkdtemp(folder.data())) return system_error("cannot make " + folder, errno);
  const std::string copy = folder + "/trace.db";
  const Status written = store::write_trace(copy, trace);
  auto present = written.ok() ? store::Database::open(copy, UINT64_MAX) : Result<store::Database>(written);
  if (present) (void)present->number("PRAGMA user_version");  // the file is open from the first question on
  std::filesystem::remove_all(folder, error);
  return present;
}

}  // namespace

struct QueryDb::State {
  model::Trace trace;
  CallSites sites;
  Seen seen{trace, sites};
  const volatile int* flag = nullptr;
  std::optional<store::Database> db;  // goes first: it holds the addresses of the others
  sqlite3* handle() const { return db->handle(); }
};

QueryDb::QueryDb(std::unique_ptr<State> state) : state_(std::move(state)) {}
QueryDb::QueryDb(QueryDb&&) noexcept = default;
QueryDb::~QueryDb() = default;

Result<QueryDb> QueryDb::open(const std::string& path) {
  auto trace = store::read_trace(path);
  if (!trace) return trace.status();
  auto state = std::make_unique<State>();
  state->trace = std::move(*trace);
  auto db = open_present(path, state->trace);
  if (!db) return db.status();
  state->db.emplace(std::move(*db));
  GT_TRY(state->db->run(("PRAGMA query_only=OFF;" + temporary_views() + "PRAGMA query_only=ON;").c_str()));

  sqlite3* handle = state->handle();
  sqlite3_limit(handle, SQLITE_LIMIT_EXPR_DEPTH, 1000);
  sqlite3_limit(handle, SQLITE_LIMIT_COLUMN, 2000);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, MostValueBytes);
  sqlite3_hard_heap_limit64(sqlite3_memory_used() + MostHeapBytes);
  add_functions(handle, &state->seen);
  sqlite3_set_authorizer(handle, &authorize, nullptr);
  sqlite3_progress_handler(handle, 0, nullptr, nullptr);  // the reader's budget of steps is not the user's
  return QueryDb(std::move(state));
}

void QueryDb::interrupt_by(const volatile int* flag) {
  state_->flag = flag;
  const auto stop = [](void* state) { return *static_cast<State*>(state)->flag; };
  sqlite3_progress_handler(state_->handle(), StepsPerCheck, stop, state_.get());
}

Result<store::Statement> QueryDb::prepare(const std::string& sql) {
  sqlite3_stmt* raw = nullptr;
  const char* rest = nullptr;
  const int rc = sqlite3_prepare_v2(state_->handle(), sql.c_str(), static_cast<int>(sql.size()), &raw, &rest);
  store::Statement statement(raw);
  if (rc != SQLITE_OK) return error();
  if (!raw) return Status(Kind::Invalid, "the query is empty");
  sqlite3_stmt* second = nullptr;
  const size_t left = sql.size() - static_cast<size_t>(rest - sql.c_str());
  const int more = sqlite3_prepare_v2(state_->handle(), rest, static_cast<int>(left), &second, nullptr);
  const store::Statement unused(second);
  if (more != SQLITE_OK || second) return Status(Kind::Invalid, "one statement at a time");
  if (!sqlite3_stmt_readonly(raw)) return Status(Kind::Invalid, "the trace is only read: SELECT is what can be asked");
  return statement;
}

Status QueryDb::error() const {
  sqlite3* db = state_->handle();
  switch (sqlite3_errcode(db)) {
    case SQLITE_INTERRUPT:
      return {Kind::Busy, "interrupted"};
    case SQLITE_NOMEM:
      return {Kind::System, "the query needs too much memory", ENOMEM};
    case SQLITE_AUTH:
      return {Kind::Invalid, "the trace is only read: SELECT is what can be asked"};
    case SQLITE_FULL:
    case SQLITE_IOERR:
      return {Kind::System, "the query needs more room for temporary files than there is", ENOSPC};
    default:
      return {Kind::Invalid, "the query is wrong: " + one_line(sqlite3_errmsg(db))};
  }
}

}  // namespace gt::analyzer
