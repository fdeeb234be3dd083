#include "tracer/gtrace/base/summary_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "traces/model/fold/fold.h"
#include "traces/store/function_facts.h"

namespace gt::tracer {

namespace {

// The most frequent first.
std::vector<std::pair<std::string, uint64_t>> functions(const model::Trace& trace, const model::Node& summary) {
  std::map<std::string, uint64_t> calls;
  (void)expand_summary(summary, trace.shapes.size(), [&](model::ShapeId shape, uint64_t n) {
    calls[store::function_name(trace.shapes[shape].fn)] += n;
  });
  std::vector<std::pair<std::string, uint64_t>> out(calls.begin(), calls.end());
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

}  // namespace

std::string summary_text(const model::Trace& trace, const model::Node& summary) {
  std::string text = fmt::format("… {} calls summarised (--max-size)", summary.count.value);
  const char* before = ": ";
  for (const auto& [name, calls] : functions(trace, summary)) {
    text += fmt::format("{}{} ×{}", before, name, calls);
    before = ", ";
  }
  return text;
}

std::string summary_line(const model::Trace& trace, const model::Node& summary, CallFormat format,
                         const std::string& prefix, uint64_t n) {
  if (format == CallFormat::Text) return fmt::format("{}{} {}\n", prefix, n, summary_text(trace, summary));
  std::string text = fmt::format("{}{},\"summarised\":{},\"calls\":{{", prefix, n, summary.count.value);
  const char* before = "";
  for (const auto& [name, calls] : functions(trace, summary)) {
    text += fmt::format("{}\"{}\":{}", before, name, calls);
    before = ",";
  }
  return text + "}}\n";
}

}  // namespace gt::tracer
