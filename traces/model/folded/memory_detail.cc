// Facts to rows and back.
#include "traces/model/folded/memory_detail.h"

#include <charconv>
#include <limits>

#include "traces/api/alloc_fn.h"

namespace gt::model {
namespace {

constexpr std::string_view From = "memory_detail.from", Counted = "memory_detail.counted",
                           Others = "memory_detail.others", Whole = "memory_detail.whole", Row = "counted.";
constexpr unsigned MostClass = 64;

// The first number of `text`, which is taken off, and what separates it from the next. Nothing: there is none.
std::optional<uint64_t> take_number(std::string_view& text) {
  uint64_t v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (!text.empty()) text.remove_prefix(1);
  return v;
}

FnId function_of(std::string_view name) {
  for (auto fn = api::FirstAllocFn; fn < static_cast<FnId>(api::AllocFn::Count); ++fn) {
    if (name == api::alloc_fn_name(fn)) return fn;
  }
  return 0;
}

// The rows of one fact.
void read_rows(const Trace& trace, std::string_view name, std::string_view value, MemoryDetail& detail) {
  name.remove_prefix(Row.size());
  const size_t dot = name.find('.');
  if (dot == name.npos) return;
  CountedRow row;
  row.fn = function_of(name.substr(dot + 1));
  std::string_view site = name.substr(0, dot);
  if (site != "?") row.site = static_cast<SiteId>(take_number(site).value_or(NoIndex));
  if (row.fn == 0 || (row.site != NoIndex && row.site >= trace.sites.size())) return;
  while (!value.empty()) {
    const auto size_class = take_number(value), calls = take_number(value), bytes = take_number(value);
    if (!size_class || *size_class > MostClass || !calls || !bytes) return;
    row.size_class = static_cast<unsigned>(*size_class);
    row.calls = *calls;
    row.bytes = *bytes;
    detail.rows.push_back(row);
  }
}

}  // namespace

uint64_t MemoryDetail::calls() const {
  uint64_t sum = other_calls;
  for (const CountedRow& row : rows) sum += row.calls;
  return sum;
}

void add_detail_facts(Trace& trace, const MemoryDetail& detail) {
  const auto fact = [&](std::string_view name, std::string value) {
    trace.facts.emplace_back(std::string(name), std::move(value));
  };
  fact(From, std::to_string(detail.from));
  fact(Counted, std::to_string(detail.calls()));
  if (detail.other_calls > 0)
    fact(Others, std::to_string(detail.other_calls) + " " + std::to_string(detail.other_bytes));
  if (detail.whole_processes > 0) fact(Whole, std::to_string(detail.whole_processes));
  for (size_t i = 0; i < detail.rows.size();) {
    const CountedRow& first = detail.rows[i];
    std::string lines;
    for (; i < detail.rows.size() && detail.rows[i].site == first.site && detail.rows[i].fn == first.fn; ++i) {
      const CountedRow& row = detail.rows[i];
      lines += lines.empty() ? "" : "\n";
      lines += std::to_string(row.size_class) + " " + std::to_string(row.calls) + " " + std::to_string(row.bytes);
    }
    const std::string site = first.site == NoIndex ? "?" : std::to_string(first.site);
    fact(std::string(Row) + site + "." + api::alloc_fn_name(first.fn), std::move(lines));
  }
}

std::optional<MemoryDetail> read_memory_detail(const Trace& trace) {
  std::string_view from = trace.fact(From), others = trace.fact(Others), whole = trace.fact(Whole);
  MemoryDetail out;
  out.from = take_number(from).value_or(0);
  if (out.from == 0) return std::nullopt;
  out.other_calls = take_number(others).value_or(0);
  out.other_bytes = take_number(others).value_or(0);
  out.whole_processes = take_number(whole).value_or(0);
  for (const auto& [name, value] : trace.facts) {
    if (is_counted_row(name)) read_rows(trace, name, value, out);
  }
  return out;
}

bool is_counted_row(std::string_view fact) { return fact.starts_with(Row); }

}  // namespace gt::model
