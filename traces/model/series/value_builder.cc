// From one form to the next.
#include "traces/model/series/value_builder.h"

#include <algorithm>

#include "traces/model/series/series_cursor.h"

namespace gt::model {

struct ValueBuilder::Pair {
  ValueBuilder base, step;
};

namespace {

// Runs the loops of `counts`, giving each execution of the innermost one to `run(first, step,
// count)`.
template <class Run>
class Walk {
 public:
  Walk(const std::vector<Series>& counts, const Series& value, const Run& run)
      : value_(value, counts.size()), run_(run) {
    for (size_t d = 0; d < counts.size(); ++d) counts_.emplace_back(counts[d], d);
    level(0);
  }

 private:
  void level(size_t d) {
    int64_t count = 0;
    counts_[d].value(counters_, count);
    counters_.push_back(0);
    for (size_t inner = d + 1; inner < counts_.size(); ++inner)
      counts_[inner].begin(d + 1, counters_);
    value_.begin(d + 1, counters_);
    if (d + 1 == counts_.size()) {
      innermost(static_cast<uint64_t>(count));
    } else {
      for (uint64_t i = 0; i < static_cast<uint64_t>(count); ++i) {
        counters_[d] = i;
        level(d + 1);
      }
    }
    counters_.pop_back();
  }

  void innermost(uint64_t count) {
    if (count == 0) return;
    int64_t first = 0, second = 0;
    value_.value(counters_, first);
    counters_.back() = 1;
    value_.value(counters_, second);  // REQUIRES: Const or Affine, which may be read anywhere
    run_(first, static_cast<int64_t>(static_cast<uint64_t>(second) - static_cast<uint64_t>(first)),
         count);
  }

  std::vector<SeriesCursor> counts_;
  SeriesCursor value_;
  const Run& run_;
  std::vector<uint64_t> counters_;
};

std::vector<Series> count_series(const LoopCounts& counts, size_t depth) {
  std::vector<Series> out;
  out.emplace_back(static_cast<int64_t>(counts.outermost));
  for (size_t i = 0; i + 1 < depth; ++i) out.push_back(counts.inner[i]->series(i + 1));
  return out;
}

}  // namespace

ValueBuilder::ValueBuilder() = default;
ValueBuilder::~ValueBuilder() = default;
ValueBuilder::ValueBuilder(ValueBuilder&&) noexcept = default;
ValueBuilder& ValueBuilder::operator=(ValueBuilder&&) noexcept = default;

ValueBuilder::ValueBuilder(const ValueBuilder& o)
    : next_(o.next_), step_(o.step_), n_(o.n_), first_(o.first_), known_(o.known_), form_(o.form_) {
  if (o.pair_) pair_ = std::make_unique<Pair>(*o.pair_);
  if (!o.flat()) return;
  wild_ = std::make_unique<Wild>();
  wild_->values = o.wild_->values;
  wild_->any = o.wild_->any;
  if (form_ == Form::Column) wild_->column = std::make_unique<ColumnBuilder>(*o.wild_->column);
}

ValueBuilder ValueBuilder::constant(size_t depth, int64_t v, uint64_t n, uint64_t first,
                                    uint32_t known) {
  ValueBuilder b;
  b.form_ = depth == 1 ? Form::Line : Form::Const;
  b.next_ = v;
  b.n_ = n;
  b.first_ = first;
  b.known_ = depth == 1 ? (known & 1 ? 2 : 1) : known;
  return b;
}

ValueBuilder ValueBuilder::any(uint64_t n) {
  ValueBuilder b;
  b.n_ = n;
  return b;
}

bool ValueBuilder::is_constant(size_t depth) const {
  return depth == 1 ? form_ == Form::Line && step_ == 0 : form_ == Form::Const;
}

void ValueBuilder::reset_slowly() {
  pair_ = nullptr;
  if (!flat()) return;
  wild_->values.clear();
  if (form_ == Form::Column && !wild_->column->clear_uncoded()) wild_->column = nullptr;
}

// --- Depth 1
// ---------------------------------------------------------------------------------------------------

void ValueBuilder::append_slowly(int64_t v) {
  if (form_ == Form::Any) {
    form_ = Form::Line;
    first_ = n_++;
    known_ = 1;
    next_ = v;
    return;
  }
  if (form_ == Form::Line && known_ == 1) {
    const auto apart = static_cast<int64_t>(n_ - first_);
    const int64_t rise = difference(v, next_);
    if (rise % apart == 0) {
      step_ = rise / apart;
      known_ = 2;
      next_ = sum(v, step_);
      ++n_;
      return;
    }
  }
  if (form_ == Form::Line && known_ == 2 && v == next_) {
    next_ = sum(next_, step_);
    ++n_;
    return;
  }
  if (!flat()) start_wild();
  append_wild(v, false);
}

void ValueBuilder::append_again(int64_t v, uint64_t times) {
  const auto settled = [&] {
    if (form_ == Form::Line) return known_ == 2 && step_ == 0 && next_ == v;
    if (form_ == Form::Period) return wild_->values.size() == 1 && wild_->values[0] == v;
    return form_ == Form::Column;
  };
  for (; times > 0 && !settled(); --times) append(v);
  if (times > 0 && form_ == Form::Column) wild_->column->append_run(v, 0, times);
  n_ += times;
}

void ValueBuilder::append_any() {
  if (flat()) return append_wild(last(), true);
  if (form_ == Form::Line) next_ = sum(next_, step_);
  ++n_;
}

int64_t ValueBuilder::last() const {
  if (n_ == 0) return 0;
  if (form_ == Form::Recent) return wild_->values.back();
  if (form_ == Form::Period) return wild_->values[n_ % wild_->values.size()];  // as predicted
  if (form_ == Form::Column) return wild_->column->last();
  return next_;
}

// A progression that broke: its numbers so far become the beginning of a flat form.
void ValueBuilder::start_wild() {
  const uint64_t n = n_;
  const int64_t first = line_base(), step = step_;
  const bool had_values = form_ == Form::Line;
  if (!wild_) wild_ = std::make_unique<Wild>();
  wild_->any = 0;
  wild_->values.reserve(RecentMax);
  form_ = Form::Recent;
  n_ = 0;
  if (had_values) append_run(first, step, n);
}

void ValueBuilder::append_run(int64_t first, int64_t step, uint64_t count) {
  if (form_ == Form::Recent && n_ + count > RecentMax && (step != 0 || n_ == 0)) become_column();
  int64_t v = first;
  uint64_t i = 0;
  for (; i < count && form_ != Form::Column; ++i, v = sum(v, step)) append_wild(v, false);
  if (i < count) {
    wild_->column->append_run(v, step, count - i);
    n_ += count - i;
  }
}

void ValueBuilder::append_wild(int64_t v, bool any) {
  if (form_ == Form::Period && v != wild_->values[n_ % wild_->values.size()]) become_column();
  if (form_ == Form::Column) wild_->column->append(v);
  if (form_ == Form::Recent) {
    if (any) wild_->any |= uint64_t{1} << n_;
    wild_->values.push_back(v);
  }
  ++n_;
  if (form_ == Form::Recent && n_ == RecentMax) decide();
}

void ValueBuilder::append_all(std::span<const int64_t> values) {
  for (; !values.empty() && form_ != Form::Column; values = values.subspan(1)) append_wild(values[0], false);
  if (values.empty()) return;
  wild_->column->append_all(values);
  n_ += values.size();
}

// The shortest period that all numbers so far agree with and that was seen twice; 0 when there is
// none.
size_t ValueBuilder::period() const {
  const std::vector<int64_t>& v = wild_->values;
  for (size_t p = 1; p <= std::min(PeriodMax, v.size() / 2); ++p) {
    bool fits = true;
    for (size_t i = p; fits && i < v.size(); ++i) {
      const bool either_any = (wild_->any >> i & 1) || (wild_->any >> (i - p) & 1);
      fits = either_any || v[i] == v[i - p];
    }
    if (fits && (wild_->any == 0 || p == 1)) return p;
  }
  return 0;
}

void ValueBuilder::decide() {
  const size_t p = wild_->any == 0 ? period() : 0;
  if (p == 0) return become_column();
  form_ = Form::Period;
  wild_->values.resize(p);
}

void ValueBuilder::become_column() {
  if (!wild_->column) wild_->column = std::make_unique<ColumnBuilder>();
  if (form_ == Form::Period) wild_->column->append_pattern(wild_->values, n_);
  if (form_ == Form::Recent) wild_->column->append_all(wild_->values);
  wild_->values.clear();
  form_ = Form::Column;
}

// --- Depth 2 and up
// --------------------------------------------------------------------------------------------

void ValueBuilder::absorb(const ValueBuilder& x, size_t depth, const LoopCounts& own,
                          const LoopCounts& its) {
  if (absorb_constant(x, depth)) return;
  if (!flat() && x.flat()) flatten(depth, own);
  if (flat()) return append_all_of(x, depth - 1, its);
  if (form_ != Form::Pair) become_pair(depth);
  ++n_;
  if (depth == 2) {
    if (x.form_ == Form::Any) {
      pair_->base.append_any();
      pair_->step.append_any();
    } else {
      pair_->base.append(x.line_base());
      if (x.step_known()) pair_->step.append(x.step_);
      if (!x.step_known()) pair_->step.append_any();
    }
  } else if (x.form_ == Form::Pair) {
    pair_->base.absorb(x.pair_->base, depth - 1, own, its);
    pair_->step.absorb(x.pair_->step, depth - 1, own, its);
  } else {
    const Pair halves = x.split(depth - 1);
    pair_->base.absorb(halves.base, depth - 1, own, its);
    pair_->step.absorb(halves.step, depth - 1, own, its);
  }
}

bool ValueBuilder::absorb_constant(const ValueBuilder& x, size_t depth) {
  if (form_ != Form::Any && form_ != Form::Const) return false;
  if (x.form_ == Form::Any) {
    ++n_;
    return true;
  }
  return x.is_constant(depth - 1) && absorb_equal(x.next_, depth, x.known_levels(depth - 1));
}

// REQUIRES: this is Any or Const.
bool ValueBuilder::absorb_equal(int64_t v, size_t depth, uint32_t known_levels) {
  if (form_ == Form::Const && v != next_) return false;
  if (n_ > 0) known_ |= 1u << (depth - 1);
  if (form_ == Form::Any) first_ = n_;
  form_ = Form::Const;
  next_ = v;
  known_ |= known_levels;
  ++n_;
  return true;
}

void ValueBuilder::absorb_one(int64_t v) {
  if (flat()) return append_run(v, 0, 1);
  if (form_ != Form::Pair) {
    if (absorb_equal(v, 2, 0)) return;
    become_pair(2);
  }
  ++n_;
  pair_->base.append(v);
  pair_->step.append_any();
}

// REQUIRES: this is a Pair.
void ValueBuilder::absorb_none_slowly(size_t depth) {
  ++n_;
  if (depth == 2) {
    pair_->base.append_any();
    pair_->step.append_any();
  } else {
    pair_->base.absorb_none(depth - 1);
    pair_->step.absorb_none(depth - 1);
  }
}

ValueBuilder::Pair ValueBuilder::split(size_t depth) const {
  if (form_ == Form::Any) return {any(n_), any(n_)};
  return {constant(depth - 1, next_, n_, first_, known_ >> 1),
          known_ & 1 ? constant(depth - 1, 0, n_, first_, known_ >> 1) : any(n_)};
}

void ValueBuilder::become_pair(size_t depth) {
  pair_ = std::make_unique<Pair>(split(depth));
  form_ = Form::Pair;
}

void ValueBuilder::flatten(size_t depth, const LoopCounts& counts) {
  ValueBuilder flat_one;
  flat_one.start_wild();
  if (n_ > 0) flat_one.append_all_of(*this, depth, counts);
  *this = std::move(flat_one);
}

// Every number of x in order, x having `depth`. REQUIRES: this is flat.
void ValueBuilder::append_all_of(const ValueBuilder& x, size_t depth, const LoopCounts& counts) {
  if (x.form_ == Form::Recent) {
    append_all(x.wild_->values);
  } else if (x.form_ == Form::Period) {
    for (uint64_t i = 0; i < x.n_; ++i)
      append_wild(x.wild_->values[i % x.wild_->values.size()], false);
  } else if (x.form_ == Form::Column) {
    if (const auto values = x.wild_->column->uncoded(); !values.empty()) return append_all(values);
    const auto column = x.wild_->column->finish_to_read();
    if (column->summarised()) return append_summary(*column);
    ColumnReader reader(*column);
    for (int64_t v = 0; reader.next(v);) append_wild(v, false);
  } else if (depth == 1) {
    if (x.form_ == Form::Any) return append_run(last(), 0, x.n_);
    append_run(x.line_base(), x.step_, x.n_);
  } else {
    const auto run = [this](int64_t first, int64_t step, uint64_t n) {
      append_run(first, step, n);
    };
    Walk(count_series(counts, depth), x.form_ == Form::Any ? Series(last()) : x.series(depth), run);
  }
}

void ValueBuilder::append_summary(const Column& column) {
  if (form_ != Form::Column) become_column();
  wild_->column->summarise();
  wild_->column->append_summary(column);
  n_ += column.size;
}

void ValueBuilder::summarise_columns() {
  if (pair_) {
    pair_->base.summarise_columns();
    pair_->step.summarise_columns();
  }
  if (form_ == Form::Column && wild_->column->size() > 0) wild_->column->summarise();
}

Series ValueBuilder::series(size_t depth) const {
  switch (form_) {
    case Form::Any:
      return Series(0);
    case Form::Const:
      return Series(next_);
    case Form::Line:
      return make_affine(Series(line_base()), Series(step_));
    case Form::Pair:
      return make_affine(pair_->base.series(depth - 1), pair_->step.series(depth - 1));
    case Form::Period:
      return make_periodic(wild_->values);
    case Form::Recent:
      if (const size_t p = period(); p != 0 && wild_->any == 0) {
        return make_periodic(
            {wild_->values.begin(), wild_->values.begin() + static_cast<std::ptrdiff_t>(p)});
      }
      return make_column_series(wild_->values);
    case Form::Column:
      break;
  }
  return make_column_series(wild_->column->finish());
}

size_t ValueBuilder::memory_bytes() const {
  size_t n = sizeof *this;
  if (pair_) n += pair_->base.memory_bytes() + pair_->step.memory_bytes();
  if (wild_) n += sizeof *wild_ + wild_->values.size() * sizeof(int64_t);
  if (wild_ && wild_->column) n += wild_->column->memory_bytes();
  return n;
}

size_t ValueBuilder::stored_bytes() const {
  if (pair_) return pair_->base.stored_bytes() + pair_->step.stored_bytes();
  if (form_ == Form::Column) return wild_->column->stored_bytes();
  return 4 + (flat() ? 2 * wild_->values.size() : 0);
}

}  // namespace gt::model
