// ValueBuilder: finds the Series of one value while its loops still run.
//
// A builder of depth d takes one iteration of the outermost of its d loops at a time: at depth 1 a
// number, above it a builder of depth d-1 that saw that iteration (absorb). It keeps the simplest
// form that explains everything so far:
//   Any     no value yet: the loops around it were entered, but the innermost never ran
//   Const   one number everywhere (depth 2 and up; Linear with step 0 at depth 1)
//   Line    next, step: an arithmetic progression (depth 1)
//   Pair    base and step of the innermost loop, each a builder of depth d-1 (depth 2 and up)
//   Recent  up to 64 numbers that are no progression and may still turn out periodic    \  these
//   three range over the Period  one period, of at most 32 numbers > flattened executions, Column
//   everything, compressed                                                      /  whatever the
//   depth
// A loop entered once leaves its step unknown: "any" (append_any) agrees with every prediction.
// Cost: one comparison and one addition for a number that is as predicted.
// Thread safety: none.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "traces/model/series/series.h"

namespace gt::model {

class ValueBuilder;

// The trip counts of the loops around a value, as far as they are known: the outermost is a number.
struct LoopCounts {
  static constexpr size_t MaxDepth = 16;
  uint64_t outermost = 0;
  std::array<const ValueBuilder*, MaxDepth> inner{};  // inner[i] has depth i + 1
  size_t inner_size = 0;
};

class ValueBuilder {
 public:
  ValueBuilder();
  ~ValueBuilder();
  ValueBuilder(const ValueBuilder& other);
  ValueBuilder& operator=(const ValueBuilder&) = delete;
  ValueBuilder(ValueBuilder&&) noexcept;
  ValueBuilder& operator=(ValueBuilder&&) noexcept;

  // Depth 1.
  void append(int64_t v) {
    if (form_ == Form::Line && known_ == 2 && v == next_) {
      next_ = sum(next_, step_);
      ++n_;
      return;
    }
    append_slowly(v);
  }
  void append_any();
  // The same number so many times. Cost: that of some dozen at most.
  void append_again(int64_t v, uint64_t times);

  // Depth 2 and up. `x` has depth - 1. `own`: the trip counts before this iteration; `its`: those
  // of x.
  void absorb(const ValueBuilder& x, size_t depth, const LoopCounts& own, const LoopCounts& its);
  // The same, of an `x` that has one number. Depth 2.
  void absorb_one(int64_t v);
  // The same, of an `x` that has no number: the loop inside ran no times.
  void absorb_none(size_t depth) {
    if (form_ == Form::Any || form_ == Form::Const) {
      ++n_;
    } else if (form_ == Form::Pair) {
      absorb_none_slowly(depth);
    }  // flat forms have numbers only
  }

  Series series(size_t depth) const;
  // Of a trip count: is that series nothing but zeros, as far as can be seen at once?
  bool never_more_than_none() const { return form_ <= Form::Line && next_ == 0 && step_ == 0; }
  // Columns keep their number, least and most value only (--max-size).
  void summarise_columns();
  void reset() {
    if (form_ >= Form::Pair) reset_slowly();
    next_ = step_ = 0;
    n_ = first_ = 0;
    known_ = 0;
    form_ = Form::Any;
  }
  size_t memory_bytes() const;
  size_t stored_bytes() const;  // in a file, about

 private:
  enum class Form : uint8_t { Any, Const, Line, Pair, Recent, Period, Column };
  static constexpr size_t RecentMax = 64, PeriodMax = 32;
  struct Pair;
  struct Wild {  // Recent, Period, Column
    std::vector<int64_t> values;
    uint64_t any = 0;                       // Recent: bit i: values[i] was any
    std::unique_ptr<ColumnBuilder> column;  // in other forms than Column, an empty one may be left of an earlier use
  };

  static int64_t sum(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
  static int64_t difference(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  }
  static int64_t times(int64_t a, uint64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * b);
  }

  static ValueBuilder constant(size_t depth, int64_t v, uint64_t n, uint64_t first, uint32_t known);
  static ValueBuilder any(uint64_t n);
  bool flat() const { return form_ >= Form::Recent; }
  bool is_constant(size_t depth) const;
  // A lone number in an iteration other than the first fixes the step too: its base alone would not
  // give it back.
  bool step_known() const { return known_ == 2 || first_ > 0; }
  uint32_t known_levels(size_t depth) const { return depth == 1 ? (step_known() ? 1 : 0) : known_; }
  int64_t line_base() const { return difference(next_, times(step_, n_)); }
  int64_t last() const;

  void reset_slowly();
  bool absorb_constant(const ValueBuilder& x, size_t depth);
  bool absorb_equal(int64_t v, size_t depth, uint32_t known_levels);
  void absorb_none_slowly(size_t depth);
  void become_pair(size_t depth);
  Pair split(size_t depth) const;
  void flatten(size_t depth, const LoopCounts& counts);
  void append_all_of(const ValueBuilder& x, size_t depth, const LoopCounts& counts);
  void append_summary(const Column& column);
  void append_slowly(int64_t v);
  void append_wild(int64_t v, bool any);
  void append_all(std::span<const int64_t> values);
  void append_run(int64_t first, int64_t step, uint64_t count);
  void start_wild();
  void decide();
  void become_column();
  size_t period() const;

  int64_t next_ = 0;    // Line: the number predicted. Const: the number
  int64_t step_ = 0;    // Line
  uint64_t n_ = 0;      // iterations of the outermost loop; flat forms: numbers
  uint64_t first_ = 0;  // iteration that gave the first number
  uint32_t known_ = 0;  // Line: numbers seen, at most 2. Const: bit i: the i-th loop from inside
                        // ran twice in a row
  Form form_ = Form::Any;
  std::unique_ptr<Pair> pair_;
  std::unique_ptr<Wild> wild_;  // in other forms, one may be left of an earlier use
};

}  // namespace gt::model
