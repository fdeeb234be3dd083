// A trace that answers SQL: read-only, whatever is asked.
//
// The file is read and checked as every reader does it, then opened immutable. Views are ours (schema.sql), never the
// file's own; a trace of an older format is asked in the present one. An authorizer allows reading and nothing else: no
// ATTACH, no writes, no extensions; memory is bounded. Besides SQLite's own functions there are
//   place(site)             function and source line, or module+offset, with the calls around it
//   constant(shape, param)  the argument's value where it is the same in all calls of the shape; else NULL
//   blocks(shape)           1: its calls wait for the device; 0: not; NULL: it varies
// Thread safety: none; one at a time in a process.
#pragma once

#include <memory>
#include <string>

#include "traces/base/status.h"
#include "traces/store/db.h"

namespace gt::analyzer {

class QueryDb {
 public:
  static Result<QueryDb> open(const std::string& path);
  QueryDb(QueryDb&&) noexcept;
  ~QueryDb();

  // One statement that only reads. Invalid, with SQLite's words, for anything else.
  Result<store::Statement> prepare(const std::string& sql);
  // Why the last step failed: Invalid for the query's fault, System for lack of memory, Busy when it was interrupted.
  Status error() const;
  // The running statement ends soon after `flag` is not 0 any more.
  void interrupt_by(const volatile int* flag);

 private:
  struct State;
  explicit QueryDb(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace gt::analyzer
