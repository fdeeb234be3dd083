// Series as values and as bytes.
#include "traces/model/series.h"

namespace gt::model {
namespace {

constexpr int MaxDepth = 32;

std::unique_ptr<Series> clone(const std::unique_ptr<Series>& s) {
  return s ? std::make_unique<Series>(*s) : nullptr;
}
bool equal(const std::unique_ptr<Series>& a, const std::unique_ptr<Series>& b) {
  return a && b ? *a == *b : !a && !b;
}

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
  series.column = std::make_shared<const Column>(std::move(column));
  return in.ok();
}

bool decode_period(ByteReader& in, Series& series, uint64_t& budget) {
  const uint64_t n = in.varint();
  if (n == 0 || n > budget || n > in.remaining()) return false;
  budget -= n;
  series.values.resize(n);
  for (int64_t& v : series.values) v = in.svarint();
  return in.ok();
}

bool decode_within(ByteReader& in, Series& series, uint64_t& budget, int depth) {
  const uint8_t kind = in.u8();
  if (!in.ok() || kind > static_cast<uint8_t>(Series::Kind::Column) || depth == 0) return false;
  series.kind = static_cast<Series::Kind>(kind);
  switch (series.kind) {
    case Series::Kind::Const:
      series.value = in.svarint();
      return in.ok();
    case Series::Kind::Affine:
      series.base = std::make_unique<Series>();
      series.step = std::make_unique<Series>();
      return decode_within(in, *series.base, budget, depth - 1) &&
             decode_within(in, *series.step, budget, depth - 1);
    case Series::Kind::Periodic:
      return decode_period(in, series, budget);
    case Series::Kind::Column:
      return decode_column(in, series);
  }
  return false;
}

}  // namespace

Series::Series(const Series& other)
    : kind(other.kind),
      value(other.value),
      base(clone(other.base)),
      step(clone(other.step)),
      values(other.values),
      column(other.column) {}

Series& Series::operator=(const Series& other) {
  if (this != &other) *this = Series(other);
  return *this;
}

bool Series::operator==(const Series& other) const {
  if (kind != other.kind || value != other.value || values != other.values) return false;
  if (!equal(base, other.base) || !equal(step, other.step)) return false;
  if (!column || !other.column) return column == other.column;
  return *column == *other.column;
}

Series make_affine(Series base, Series step) {
  if (step.is_const(0) && base.kind == Series::Kind::Const) return base;
  Series s;
  s.kind = Series::Kind::Affine;
  s.base = std::make_unique<Series>(std::move(base));
  s.step = std::make_unique<Series>(std::move(step));
  return s;
}

Series make_periodic(std::vector<int64_t> period) {
  if (period.size() == 1) return Series(period.front());
  Series s;
  s.kind = Series::Kind::Periodic;
  s.values = std::move(period);
  return s;
}

Series make_column_series(std::span<const int64_t> values) {
  Series s;
  s.kind = Series::Kind::Column;
  s.column = make_column(values);
  return s;
}

Series without_level(Series series, size_t depth, size_t level) {
  if (series.kind != Series::Kind::Affine) return series;
  if (depth == level) return std::move(*series.base);
  return make_affine(without_level(std::move(*series.base), depth - 1, level),
                     without_level(std::move(*series.step), depth - 1, level));
}

void encode(ByteWriter& out, const Series& series) {
  out.u8(static_cast<uint8_t>(series.kind));
  switch (series.kind) {
    case Series::Kind::Const:
      out.svarint(series.value);
      break;
    case Series::Kind::Affine:
      encode(out, *series.base);
      encode(out, *series.step);
      break;
    case Series::Kind::Periodic:
      out.varint(series.values.size());
      for (const int64_t v : series.values) out.svarint(v);
      break;
    case Series::Kind::Column:
      encode_column(out, *series.column);
      break;
  }
}

bool decode(ByteReader& in, Series& series, uint64_t max_values) {
  series = Series();
  return decode_within(in, series, max_values, MaxDepth);
}

}  // namespace gt::model
