// One row in, one row out.
#include "traces/store/rows.h"

#include <algorithm>

namespace gt::store {
namespace {

constexpr size_t BucketsPerStep =
    16;  // histograms grow in steps, so that a little noise does not change their size
constexpr int CounterDigits = 20;  // of the largest 64-bit number

// Bytes that SQLite's record format takes for an integer.
int stored_size(int64_t v) {
  const uint64_t u = static_cast<uint64_t>(v < 0 ? ~v : v);
  if (v == 0 || v == 1) return 0;
  if (u < (1u << 7)) return 1;
  if (u < (1u << 15)) return 2;
  if (u < (1u << 23)) return 3;
  if (u < (1u << 31)) return 4;
  return u < (uint64_t{1} << 47) ? 6 : 8;
}

}  // namespace

void RowHash::bytes(ByteView v) {
  word(v.size());
  while (!v.empty()) {
    const size_t n = std::min<size_t>(v.size(), 8);
    uint64_t w = 0;
    std::memcpy(&w, v.data(), n);
    word(w);
    v = v.subspan(n);
  }
}

// First bucket, then little-endian counts; nothing for an empty histogram.
Bytes pack_histogram(const std::array<uint32_t, 64>& histogram) {
  const auto used = [](uint32_t n) { return n != 0; };
  const auto first = std::find_if(histogram.begin(), histogram.end(), used);
  if (first == histogram.end()) return {};
  const auto last = std::find_if(histogram.rbegin(), histogram.rend(), used).base();
  const auto span = static_cast<size_t>(last - first);
  const size_t count = (span + BucketsPerStep - 1) / BucketsPerStep * BucketsPerStep;
  const size_t start =
      std::min(static_cast<size_t>(first - histogram.begin()), histogram.size() - count);
  ByteWriter out;
  out.u8(static_cast<uint8_t>(start));
  for (size_t i = 0; i < count; ++i) out.fixed32(histogram[start + i]);
  return out.take();
}

bool unpack_histogram(ByteView bytes, std::array<uint32_t, 64>& histogram) {
  histogram = {};
  if (bytes.empty()) return true;
  ByteReader in(bytes);
  const size_t start = in.u8(), count = in.remaining() / 4;
  if (in.remaining() % 4 != 0 || start + count > histogram.size()) return false;
  for (size_t i = 0; i < count; ++i) histogram[start + i] = in.fixed32();
  return true;
}

void OutRow::integer(int64_t v) {
  sqlite3_bind_int64(stmt_, ++column_, v);
  slack_ += 8 - stored_size(v);
  hash_.word(1);
  hash_.word(static_cast<uint64_t>(v));
}

void OutRow::null() {
  sqlite3_bind_null(stmt_, ++column_);
  hash_.word(0);
}

void OutRow::text(std::string& v) {
  sqlite3_bind_text64(stmt_, ++column_, v.data(), v.size(), SQLITE_STATIC, SQLITE_UTF8);
  hash_.word(2);
  hash_.bytes(as_bytes(v));
}

void OutRow::number_text(std::string& v) {
  text(v);
  const bool counter = !v.empty() && v.size() <= CounterDigits && v[0] >= '0' && v[0] <= '9';
  if (counter) slack_ += CounterDigits - static_cast<int>(v.size());
}

void OutRow::raw_blob(ByteView v) {
  // A null pointer would bind NULL, not an empty blob.
  static constexpr uint8_t Nothing = 0;
  sqlite3_bind_blob64(stmt_, ++column_, v.empty() ? &Nothing : v.data(), v.size(), SQLITE_STATIC);
  hash_.word(3);
  hash_.bytes(v);
}

void OutRow::stats(model::Stats& v) {
  number(v.count);
  number(v.sum);
  number(v.min);
  number(v.max);
  const Bytes packed = pack_histogram(v.histogram);
  static constexpr uint8_t Nothing = 0;
  sqlite3_bind_blob64(stmt_, ++column_, packed.empty() ? &Nothing : packed.data(), packed.size(),
                      SQLITE_TRANSIENT);
  hash_.word(3);
  hash_.bytes(packed);
}

void OutRow::pad() {
  // From 58 bytes on, the length of a blob takes two bytes in the row's header: stay on one side of
  // that.
  const int fixed = column_ * 8 >= 58 ? 58 : 0;
  sqlite3_bind_zeroblob(stmt_, ++column_, slack_ + fixed);
}

Status OutRow::step(Database& db) {
  const int rc = sqlite3_step(stmt_);
  const Status status = rc == SQLITE_DONE ? Status() : db.error();
  sqlite3_reset(stmt_);
  return status;
}

int64_t InRow::integer() {
  if (sqlite3_column_type(stmt_, column_) != SQLITE_INTEGER) {
    bad("not a number");
    return 0;
  }
  const int64_t v = sqlite3_column_int64(stmt_, column_++);
  hash_.word(1);
  hash_.word(static_cast<uint64_t>(v));
  return v;
}

bool InRow::is_null() {
  if (sqlite3_column_type(stmt_, column_) != SQLITE_NULL) return false;
  ++column_;
  hash_.word(0);
  return true;
}

void InRow::text(std::string& v) {
  if (sqlite3_column_type(stmt_, column_) != SQLITE_TEXT) return bad("not a text");
  const auto* p = reinterpret_cast<const char*>(sqlite3_column_text(stmt_, column_));
  const int n = sqlite3_column_bytes(stmt_, column_++);
  if (p) v.assign(p, static_cast<size_t>(n));
  hash_.word(2);
  hash_.bytes(as_bytes(v));
}

void InRow::blob(Bytes& v) {
  if (sqlite3_column_type(stmt_, column_) != SQLITE_BLOB) return bad("not a blob");
  const auto* p = static_cast<const uint8_t*>(sqlite3_column_blob(stmt_, column_));
  const int n = sqlite3_column_bytes(stmt_, column_++);
  v.clear();
  if (p) v.assign(p, p + n);
  hash_.word(3);
  hash_.bytes(v);
}

void InRow::stats(model::Stats& v) {
  number(v.count);
  number(v.sum);
  number(v.min);
  number(v.max);
  Bytes packed;
  blob(packed);
  if (ok() && !unpack_histogram(packed, v.histogram)) bad("an impossible histogram");
}

void InRow::bad(const char* what) {
  if (why_.empty()) {
    const char* name = sqlite3_column_name(stmt_, column_);
    why_ = std::string(name ? name : "a column") + " is " + what;
  }
  ++column_;
}

}  // namespace gt::store
