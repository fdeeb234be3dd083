// Series: how one value of a call varies over the loops around it.
//
// A value at depth d ranges over d enclosing loops. Written as a function of the innermost counter
// i first:
//   Const     the same everywhere
//   Affine    base + i * step, where base and step are Series of depth d-1 (they range over the
//   outer loops) Periodic  values[n mod p] over the flattened executions n, p = values.size()
//   Column    every value, in order of execution, compressed (column.h)
// Example: for i < n: for j < m: f(i * 10 + j)  is  Affine{base = Affine{0, 10}, step = Const 1}.
// The form at depth 0 is always Const. Arithmetic wraps at 64 bits.
// base and step have one value for each time that the innermost loop is entered, also when it then
// runs zero times. After Ketterlin & Clauss, "Prediction and trace compression of data access
// addresses through nested loop recognition" (CGO 2008), with columns so that nothing needs to be
// regular to be kept. Thread safety: values.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "traces/base/bytes.h"
#include "traces/model/series/column.h"

namespace gt::model {

// Invariant: `kind` says which part is there; nobody else writes it.
// Cost: 24 bytes, for almost every value is a constant; what the other forms need is on the heap.
struct Series {
  enum class Kind : uint8_t { Const, Affine, Periodic, Column };
  Kind kind = Kind::Const;
  int64_t value = 0;  // Const

  Series() = default;
  explicit Series(int64_t v) : value(v) {}
  ~Series();
  Series(const Series& other);
  Series& operator=(const Series& other);
  Series(Series&&) noexcept;
  Series& operator=(Series&&) noexcept;
  bool operator==(const Series& other) const;

  bool is_const(int64_t v) const { return kind == Kind::Const && value == v; }

  // REQUIRES: the kind that has it.
  const Series& base() const;                  // Affine
  const Series& step() const;                  // Affine
  const std::vector<int64_t>& values() const;  // Periodic: one period, not empty
  const Column& column() const;                // Column; read it with ColumnReader

  struct Form;
  Series(Kind kind, Form form);  // REQUIRES: not Const; what that kind has. The functions below choose the simplest

 private:
  std::unique_ptr<Form> form_;  // of all kinds but Const
};

struct Series::Form {
  Series base, step;
  std::vector<int64_t> values;
  std::shared_ptr<const Column> column;
  bool operator==(const Form& other) const;
};

inline const Series& Series::base() const { return form_->base; }
inline const Series& Series::step() const { return form_->step; }
inline const std::vector<int64_t>& Series::values() const { return form_->values; }
inline const Column& Series::column() const { return *form_->column; }

// Base and step of an affine series; a constant one is written as such.
Series make_affine(Series base, Series step);
Series make_periodic(std::vector<int64_t> period);  // REQUIRES: not empty
Series make_column_series(std::shared_ptr<const Column> column);  // REQUIRES: not null
Series make_column_series(std::span<const int64_t> values);

// The same series; of columns only number, least and greatest value are left (--max-size).
Series without_columns(Series series);

// A loop that always runs once needs no counter: takes loop `level` (1: outermost) away from a
// series of depth `depth`.
Series without_level(Series series, size_t depth, size_t level);

// decode() gives false on damaged input; it never allocates more than `max_values` elements in all,
// and columns stay compressed.
void encode(ByteWriter& out, const Series& series);
bool decode(ByteReader& in, Series& series, uint64_t max_values);

}  // namespace gt::model
