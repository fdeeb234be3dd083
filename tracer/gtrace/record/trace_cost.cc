#include "tracer/gtrace/record/trace_cost.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tracer/gtrace/base/units.h"
#include "traces/model/folded/memory_detail.h"

namespace gt::tracer {

namespace {

using model::Node;
using model::Series;

uint64_t column_bytes(const Series& s) {
  if (s.kind == Series::Kind::Affine) return column_bytes(s.base()) + column_bytes(s.step());
  return s.kind == Series::Kind::Column ? s.column().memory_bytes() : 0;
}

uint64_t stored_bytes(const std::vector<Node>& nodes) {
  constexpr uint64_t Row = 30;
  uint64_t n = Row * nodes.size();
  for (const Node& node : nodes) {
    n += node.run.size() + column_bytes(node.count) + stored_bytes(node.body);
    for (const Series& s : node.values) n += column_bytes(s);
  }
  return n;
}

enum class Most { Memory, OpenCl, Timeline };

Most most_of(const TraceShares& shares) {
  const std::pair<uint64_t, Most> all[] = {
      {shares.memory, Most::Memory}, {shares.opencl, Most::OpenCl}, {shares.timeline, Most::Timeline}};
  return std::max_element(std::begin(all), std::end(all), [](auto& a, auto& b) { return a.first < b.first; })->second;
}

std::string most_text(const TraceShares& shares) {
  const uint64_t all = shares.memory + shares.opencl + shares.timeline;
  const auto part = [&](uint64_t bytes, const char* what) {
    return fmt::format("{} of it {}", human_percent(static_cast<double>(bytes), static_cast<double>(all)), what);
  };
  switch (most_of(shares)) {
    case Most::Memory: return part(shares.memory, "memory calls without a pattern");
    case Most::OpenCl: return part(shares.opencl, "OpenCL calls without a pattern");
    case Most::Timeline: break;
  }
  return part(shares.timeline, "the times of --timeline");
}

}  // namespace

TraceShares trace_shares(const model::Trace& trace) {
  TraceShares out;
  for (const model::Stream& s : trace.streams) {
    (s.memory ? out.memory : out.opencl) += stored_bytes(s.nodes);
    out.timeline += s.timeline.size();
  }
  return out;
}

std::string trace_cost(const model::Trace& trace, const std::string& file, uint64_t bytes, bool late) {
  const bool bounded = !trace.fact("max_size").empty();
  const bool large = bytes > LargeTrace && !bounded;
  if (!large && !late) return {};
  const TraceShares shares = trace_shares(trace);
  std::vector<std::string> remedies;
  if (most_of(shares) == Most::Memory)
    remedies.push_back(model::read_memory_detail(trace) ? "a larger --detail-from" : "--no-memory-detail");
  if (shares.timeline > 0) remedies.emplace_back("no --timeline");
  if (large) remedies.emplace_back("--max-size 32M");
  if (remedies.empty()) return {};  // it is known, and nothing can be done
  const std::string advice = fmt::format("{}", fmt::join(remedies, ", "));
  if (bytes <= LargeTrace) return "fewer records to take next time: " + advice;
  return fmt::format("{} takes {}, {}; what makes it less: {}", file, human_bytes(bytes), most_text(shares), advice);
}

}  // namespace gt::tracer
