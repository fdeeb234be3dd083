// How a row of a table becomes a struct and back: one description for both directions.
//
// A table is described by a function template `template <class Row> void fields(Row& row, T&
// value)` that names each member once, in the order of the columns; InRow fills the struct from
// SQLite, OutRow the statement from the struct. Both fold every value into the hash that `checks`
// keeps for the table. Thread safety: none.
#pragma once

#include <array>
#include <bit>
#include <limits>
#include <string>
#include <type_traits>

#include "traces/model/fold/event.h"
#include "traces/store/db.h"
#include "traces/store/trace_db.h"

namespace gt::store {

// FNV-1a over 64-bit words and strings with their lengths.
class RowHash {
 public:
  void word(uint64_t v) {
    hash_ = (hash_ ^ v) * 0x100000001b3u;
    hash_ ^= hash_ >> 29;
  }
  void bytes(ByteView v);
  int64_t value() const { return static_cast<int64_t>(hash_); }

 private:
  uint64_t hash_ = 0xcbf29ce484222325u;
};

Bytes pack_histogram(const std::array<uint32_t, 64>& histogram);
bool unpack_histogram(ByteView bytes, std::array<uint32_t, 64>& histogram);

// Binds one row. `pad()` must be called last by tables that have the column.
class OutRow {
 public:
  OutRow(sqlite3_stmt* stmt, RowHash& hash) : stmt_(stmt), hash_(hash) {}

  static constexpr int format() { return FormatVersion; }  // columns are written as this one has them

  template <class T>
  void number(T& v) {
    integer(std::bit_cast<int64_t>(wide(v)));
  }
  template <class E>
  void choice(E& v, E) {
    integer(static_cast<int64_t>(v));
  }
  void index(uint32_t& v) {
    if (v == model::NoIndex) return null();
    integer(v);
  }
  void optional_number(bool present, int64_t& v) {
    if (!present) return null();
    integer(v);
  }
  void text(std::string& v);
  void number_text(std::string& v);  // a text that may be a counter: padded like one
  void blob(Bytes& v) { raw_blob(v); }
  void stats(model::Stats& v);
  void pad();

  Status step(Database& db);

 private:
  template <class T>
  static uint64_t wide(T v) {
    if constexpr (std::is_signed_v<T>) {
      return static_cast<uint64_t>(static_cast<int64_t>(v));
    } else {
      return static_cast<uint64_t>(v);
    }
  }
  void integer(int64_t v);
  void null();
  void raw_blob(ByteView v);

  sqlite3_stmt* stmt_;
  RowHash& hash_;
  int column_ = 0;
  int slack_ = 0;  // bytes by which this row is smaller than it may become
};

// Reads one row. After the first value of a wrong type or range ok() stays false and `why()` names
// it.
class InRow {
 public:
  InRow(sqlite3_stmt* stmt, RowHash& hash, int format) : stmt_(stmt), hash_(hash), format_(format) {}

  int format() const { return format_; }  // of the file that is read

  bool ok() const { return why_.empty(); }
  const std::string& why() const { return why_; }

  template <class T>
  void number(T& v) {
    const int64_t n = integer();
    if constexpr (sizeof(T) == 8) {
      v = std::bit_cast<T>(n);
    } else {
      if (n < int64_t{std::numeric_limits<T>::min()} ||
          n > int64_t{std::numeric_limits<T>::max()}) {
        bad("out of range");
      } else {
        v = static_cast<T>(n);
      }
    }
  }
  template <class E>
  void choice(E& v, E last) {
    const int64_t n = integer();
    if (n < 0 || n > static_cast<int64_t>(last)) return bad("an unknown value");
    v = static_cast<E>(n);
  }
  void index(uint32_t& v) {
    if (is_null()) {
      v = model::NoIndex;
      return;
    }
    const int64_t n = integer();
    if (n < 0 || n >= int64_t{model::NoIndex}) return bad("out of range");
    v = static_cast<uint32_t>(n);
  }
  void optional_number(bool& present, int64_t& v) {
    present = !is_null();
    if (present) v = integer();
  }
  void text(std::string& v);
  void number_text(std::string& v) { text(v); }
  void blob(Bytes& v);
  void stats(model::Stats& v);
  void pad() { ++column_; }

 private:
  int64_t integer();
  bool is_null();  // consumes the column when it is
  void bad(const char* what);

  sqlite3_stmt* stmt_;
  RowHash& hash_;
  int format_;
  int column_ = 0;
  std::string why_;
};

}  // namespace gt::store
