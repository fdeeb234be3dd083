// Series as values and as bytes.
#include "traces/model/series/series.h"

namespace gt::model {
namespace {

constexpr int MaxDepth = 32;

void encode_column(ByteWriter& out, const Column& column) {
  out.varint(column.size);
  out.varint(column.chunks.size());
  for (const auto& chunk : column.chunks) out.bytes(*chunk);
  if (column.summarised()) {
    out.svarint(column.least);
    out.svarint(column.most);
  }
}

bool decode_column(ByteReader& in, Series& series) {
  Column column;
  column.size = in.varint();
  const uint64_t chunks = in.varint();
  if (chunks > in.remaining()) return false;
  for (uint64_t i = 0; i < chunks && in.ok(); ++i) {
    const ByteView chunk = in.bytes();
    column.chunks.push_back(std::make_shared<const Bytes>(chunk.begin(), chunk.end()));
  }
  if (column.size == 0 && !column.chunks.empty()) return false;
  if (column.summarised()) {
    column.least = in.svarint();
    column.most = in.svarint();
  }
  series = make_column_series(std::make_shared<const Column>(std::move(column)));
  return in.ok();
}

bool decode_period(ByteReader& in, Series& series, uint64_t& budget) {
  const uint64_t n = in.varint();
  if (n == 0 || n > budget || n > in.remaining()) return false;
  budget -= n;
  std::vector<int64_t> period(n);
  for (int64_t& v : period) v = in.svarint();
  series = Series(Series::Kind::Periodic, {{}, {}, std::move(period), {}});
  return in.ok();
}

bool decode_within(ByteReader& in, Series& series, uint64_t& budget, int depth) {
  const uint8_t kind = in.u8();
  if (!in.ok() || depth == 0) return false;
  switch (static_cast<Series::Kind>(kind)) {
    case Series::Kind::Const:
      series = Series(in.svarint());
      return in.ok();
    case Series::Kind::Affine: {
      Series base, step;
      if (!decode_within(in, base, budget, depth - 1) || !decode_within(in, step, budget, depth - 1)) return false;
      series = Series(Series::Kind::Affine, {std::move(base), std::move(step), {}, {}});
      return true;
    }
    case Series::Kind::Periodic:
      return decode_period(in, series, budget);
    case Series::Kind::Column:
      return decode_column(in, series);
  }
  return false;
}

}  // namespace

Series::Series(Kind k, Form form) : kind(k), form_(std::make_unique<Form>(std::move(form))) {}
Series::~Series() = default;
Series::Series(Series&&) noexcept = default;
Series& Series::operator=(Series&&) noexcept = default;

Series::Series(const Series& other)
    : kind(other.kind), value(other.value), form_(other.form_ ? std::make_unique<Form>(*other.form_) : nullptr) {}

Series& Series::operator=(const Series& other) {
  if (this != &other) *this = Series(other);
  return *this;
}

bool Series::operator==(const Series& other) const {
  if (kind != other.kind || value != other.value) return false;
  return form_ && other.form_ ? *form_ == *other.form_ : !form_ && !other.form_;
}

bool Series::Form::operator==(const Form& other) const {
  if (base != other.base || step != other.step || values != other.values) return false;
  return column && other.column ? *column == *other.column : column == other.column;
}

Series make_affine(Series base, Series step) {
  if (step.is_const(0) && base.kind == Series::Kind::Const) return base;
  return Series(Series::Kind::Affine, {std::move(base), std::move(step), {}, {}});
}

Series make_periodic(std::vector<int64_t> period) {
  if (period.size() == 1) return Series(period.front());
  return Series(Series::Kind::Periodic, {{}, {}, std::move(period), {}});
}

Series make_column_series(std::shared_ptr<const Column> column) {
  return Series(Series::Kind::Column, {{}, {}, {}, std::move(column)});
}
Series make_column_series(std::span<const int64_t> values) { return make_column_series(make_column(values)); }

Series without_columns(Series series) {
  if (series.kind == Series::Kind::Affine)
    return make_affine(without_columns(series.base()), without_columns(series.step()));
  if (series.kind != Series::Kind::Column || series.column().size == 0) return series;
  return make_column_series(summarise(series.column()));
}

Series without_level(Series series, size_t depth, size_t level) {
  if (series.kind != Series::Kind::Affine) return series;
  if (depth == level) return series.base();
  return make_affine(without_level(series.base(), depth - 1, level), without_level(series.step(), depth - 1, level));
}

void encode(ByteWriter& out, const Series& series) {
  out.u8(static_cast<uint8_t>(series.kind));
  switch (series.kind) {
    case Series::Kind::Const:
      out.svarint(series.value);
      break;
    case Series::Kind::Affine:
      encode(out, series.base());
      encode(out, series.step());
      break;
    case Series::Kind::Periodic:
      out.varint(series.values().size());
      for (const int64_t v : series.values()) out.svarint(v);
      break;
    case Series::Kind::Column:
      encode_column(out, series.column());
      break;
  }
}

bool decode(ByteReader& in, Series& series, uint64_t max_values) {
  series = Series();
  return decode_within(in, series, max_values, MaxDepth);
}

}  // namespace gt::model
