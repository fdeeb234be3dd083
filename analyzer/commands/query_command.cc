// ganalyze --query NAME|SQL: a table of what the trace has.
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <nlohmann/json.hpp>

#include "analyzer/commands/commands.h"
#include "analyzer/query/named_queries.h"
#include "analyzer/query/query_db.h"
#include "analyzer/query/row_printer.h"

namespace gt::analyzer {
namespace {

volatile int g_interrupted = 0;  // by Ctrl-C; the second one ends the program

void stop_on_interrupt() {
  struct sigaction action {};
  action.sa_handler = [](int) { g_interrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, nullptr);
}

bool is_name(const std::string& query) {
  for (const char c : query)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-') return false;
  return !query.empty();
}

int list_queries(bool json) {
  if (json) {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (const NamedQuery& q : named_queries()) out.push_back({{"name", q.name}, {"what", q.what}, {"sql", q.sql}});
    return print_text(out.dump(2) + "\n");
  }
  std::string out;
  for (const NamedQuery& q : named_queries()) {
    out.append(q.name).append(14 - std::min<size_t>(13, q.name.size()), ' ').append(q.what).append("\n");
  }
  return print_text(out);
}

int end_of(const QueryDb& db, int rc, const RowPrinter& rows) {
  if (rows.error() == EPIPE) return ExitOk;  // the reader has seen enough
  if (g_interrupted) {
    std::fprintf(stderr, "%s: interrupted after %llu rows\n", ProgramName,
                 static_cast<unsigned long long>(rows.rows()));
    return 128 + SIGINT;
  }
  if (rows.error() != 0) return fail(ProgramName, system_error("standard output", rows.error()));
  return rc == SQLITE_DONE ? static_cast<int>(ExitOk) : fail(ProgramName, db.error());
}

}  // namespace

bool lists_queries(const Options& options) { return options.text("query") == "list"; }

int query_command(const Options& options, const std::string& file) {
  std::string sql = options.text("query");
  if (sql == "list") return list_queries(options.flag("json"));
  if (options.flag("json") && options.flag("csv")) {
    return fail(ProgramName, {Kind::Invalid, "--json or --csv, not both"});
  }
  if (is_name(sql)) {
    const NamedQuery* named = find_query(sql);
    if (!named) return fail(ProgramName, {Kind::Invalid, "no query '" + sql + "' (--query list names them)"});
    sql = named->sql;
  }
  auto db = QueryDb::open(file);
  if (!db.ok()) return fail(ProgramName, db.status());
  const auto statement = db->prepare(sql);
  if (!statement.ok()) return fail(ProgramName, statement.status());
  stop_on_interrupt();
  db->interrupt_by(&g_interrupted);
  RowPrinter rows(options.flag("json")  ? RowFormat::Json
                  : options.flag("csv") ? RowFormat::Csv
                                        : RowFormat::Table,
                  statement->get());
  int rc = SQLITE_ROW;
  while (rows.open() && !g_interrupted && (rc = sqlite3_step(statement->get())) == SQLITE_ROW) rows.add();
  rows.finish();
  return end_of(*db, rc, rows);
}

}  // namespace gt::analyzer
